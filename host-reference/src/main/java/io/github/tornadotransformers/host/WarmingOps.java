package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.BlockFormat;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.ModelSource;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * {@link ScalarOps} until the compiler has reached {@link VectorOps}, whose loops make an object of every vector before that
 * and are many times slower than plain ones. A thread of its own runs them on a miniature of the model until they are the faster,
 * one kind of {@link Pass} after the other; then they take over, from one Op to the next. Both give the same bits, so that nobody
 * sees the change. A layer that is so large that plain loops would take longer for a token than the warming does waits for it.
 *
 * <p>The warming takes the compiler away from everything else that has just started, so that it begins only when plain loops
 * have taken about as long as it takes itself: a short text of a small model is done before. A large layer begins it at once.
 */
public final class WarmingOps extends ForwardingOps {
    /** Rounds in a row that vectors must win: one may be luck. */
    private static final int WINS = 3;

    /** Vectors that have not won by then never will. */
    private static final long PATIENCE_NANOS = 4_000_000_000L;

    /** So many products take plain loops longer than vectors that are not compiled yet. */
    private static final long MANY_PRODUCTS = 1 << 26;

    /** A model whose layers have so many weights takes plain loops longer for a token than the rest of the warming takes. */
    private static final long LARGE_LAYER = 1 << 23;

    /** So many take plain loops, new ones at first, about as long as the warming takes. */
    private static final long PATIENT_PRODUCTS = 1 << 29;

    /** Passes that have loops of their own, by how many rows they have, in the order in which they are warmed. */
    enum Pass {
        /** Tiles of every height. */
        PROMPT(10),
        /** Few of them, for which some types have loops of their own. */
        ROWS(3),
        TOKEN(1);

        /** The most rows of {@link #ROWS}. */
        private static final int FEW = 8;

        private final int rows;

        Pass(int rows) {
            this.rows = rows;
        }

        /** The pass whose loops so many rows run. */
        static Pass of(int rows) {
            return rows == 1 ? TOKEN : rows <= FEW ? ROWS : PROMPT;
        }
    }

    private final HostOps plain = new ScalarOps();
    private final HostOps vector;
    private final Consumer<WarmingOps> starter;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicLong products = new AtomicLong();
    private final Map<Pass, CountDownLatch> cold = new EnumMap<>(Pass.class);

    /** What the latest product was of, which the Ops beside it are, too. */
    private volatile Pass current = Pass.PROMPT;

    private volatile boolean closed;

    /**
     * @param vector what takes over; closed with this
     * @param starter has {@link #warmUp} called, by another thread; called once at most
     */
    WarmingOps(HostOps vector, Consumer<WarmingOps> starter) {
        super(vector);
        this.vector = vector;
        this.starter = starter;
        for (Pass pass : Pass.values()) {
            cold.put(pass, new CountDownLatch(1));
        }
    }

    /**
     * The loops of a model that is about to run; a large one's are warmed while it loads.
     *
     * @param model whose miniature warms the loops up, its matrices in the same formats
     * @param dtype of its matrices
     * @param threads of the vector loops
     */
    public static WarmingOps of(ModelSource model, DType dtype, int threads) {
        WarmingOps warming = new WarmingOps(
                new VectorOps(threads),
                ops -> Thread.ofPlatform()
                        .name("warming")
                        .daemon(true)
                        .start(() -> ops.warmUp(() -> miniature(model), dtype)));
        if (model.config().weights().stream().anyMatch(weight -> weight.layerSize() >= LARGE_LAYER)) {
            warming.begin();
        }
        return warming;
    }

    private static RandomModel miniature(ModelSource model) {
        List<BlockFormat> formats = model.formats();
        ModelConfig miniature = model.config().miniature();
        return formats.isEmpty() ? new RandomModel(miniature, 1) : new RandomModel(miniature, 1, formats);
    }

    private void begin() {
        if (!begun.getAndSet(true)) {
            starter.accept(this);
        }
    }

    /** Runs both kinds of loops on each kind of pass until the vectors' are the faster. Whatever happens, nobody waits for it after. */
    void warmUp(Supplier<RandomModel> miniature, DType dtype) {
        try {
            race(miniature.get(), dtype);
        } finally {
            for (Pass pass : Pass.values()) {
                settle(pass);
            }
        }
    }

    private void race(RandomModel miniature, DType dtype) {
        ModelConfig config = miniature.config();
        Program program = config.program(config.contextLength());
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        try (Arena arena = Arena.ofShared()) {
            ArenaAllocator memory = new ArenaAllocator(arena, WeightLayout.PANELS);
            Weights weights = miniature.load(program, dtype, memory);
            try (HostForwardPass slow = new HostForwardPass(program, weights, new ScalarOps());
                    HostForwardPass fast = new HostForwardPass(program, weights, new VectorOps(1))) {
                int position = 0;
                for (Pass pass : Pass.values()) {
                    int[] tokens = new int[pass.rows];
                    int wins = 0;
                    long plainNanos = Long.MAX_VALUE;
                    while (!closed && wins < WINS && System.nanoTime() < deadline) {
                        long nanos = nanos(fast, tokens, position);
                        boolean mayWin =
                                nanos < plainNanos; // plain loops are not run in vain: the compiler needs the processor
                        if (mayWin) {
                            plainNanos = nanos(slow, tokens, position);
                        }
                        wins = mayWin && nanos < plainNanos ? wins + 1 : 0;
                    }
                    position += pass.rows;
                    settle(pass);
                }
            }
        }
    }

    /** From now on vectors run these passes. */
    void settle(Pass pass) {
        cold.get(pass).countDown();
    }

    private static long nanos(HostForwardPass pass, int[] tokens, int position) {
        long started = System.nanoTime();
        pass.forward(tokens, position);
        return System.nanoTime() - started;
    }

    /** Whether vectors have taken over everything. */
    boolean isWarm() {
        return Arrays.stream(Pass.values()).allMatch(this::isWarm);
    }

    private boolean isWarm(Pass pass) {
        return cold.get(pass).getCount() == 0;
    }

    @Override
    protected HostOps delegate() {
        return isWarm(current) ? vector : plain;
    }

    @Override
    public void linear(
            float[] x,
            HostMatrix weight,
            float[] bias,
            Activation activation,
            Residual residual,
            int rows,
            float[] out) {
        current = Pass.of(rows);
        long own = (long) rows * weight.rows() * weight.columns();
        if (products.addAndGet(own) >= PATIENT_PRODUCTS) {
            begin();
        }
        if (own < LARGE_LAYER) {
            delegate().linear(x, weight, bias, activation, residual, rows, out);
            return;
        }
        begin();
        boolean alone = current == Pass.TOKEN;
        if (own < MANY_PRODUCTS) {
            await(alone ? Pass.ROWS : current);
        }
        if (alone && isWarm(Pass.ROWS) && !isWarm(Pass.TOKEN)) {
            linearAsRows(x, weight, bias, activation, residual, out);
        } else {
            vector.linear(x, weight, bias, activation, residual, rows, out);
        }
    }

    /** One row, with others that nobody asks for, on the loops for several, which are warm before its own. */
    private void linearAsRows(
            float[] x, HostMatrix weight, float[] bias, Activation activation, Residual residual, float[] out) {
        int columns = weight.columns();
        float[] padded = Arrays.copyOf(x, Pass.ROWS.rows * weight.rows());
        float[] results = Arrays.copyOf(out, Pass.ROWS.rows * columns);
        vector.linear(padded, weight, bias, activation, residual, Pass.ROWS.rows, results);
        System.arraycopy(results, 0, out, 0, columns);
    }

    private void await(Pass pass) {
        try {
            boolean _ = cold.get(pass).await(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed = true;
        vector.close();
    }
}
