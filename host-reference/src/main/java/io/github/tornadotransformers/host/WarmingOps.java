package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.checkpoint.ArenaAllocator;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.checkpoint.RandomModel;
import io.github.tornadotransformers.models.checkpoint.WeightLayout;
import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Residual;
import java.lang.foreign.Arena;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * {@link ScalarOps} until the compiler has reached {@link VectorOps}, whose loops make an object of every vector before that
 * and are many times slower than plain ones. A thread of its own runs them on the same weights until they are the faster; then
 * they take over, from one Op to the next. Both give the same bits, so that nobody sees the change. A layer that is so large that
 * plain loops would take longer for a token than the warming does waits for it.
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

    private final HostOps plain = new ScalarOps();
    private final HostOps vector;
    private final Consumer<WarmingOps> starter;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicLong products = new AtomicLong();
    private final CountDownLatch warming = new CountDownLatch(1);
    private volatile boolean warm;
    private volatile boolean closed;

    /**
     * @param vector what takes over; closed with this
     * @param starter has {@link #warmUp} called, by another thread; called once at most
     */
    WarmingOps(HostOps vector, Consumer<WarmingOps> starter) {
        super(vector);
        this.vector = vector;
        this.starter = starter;
    }

    /**
     * The loops of a model that is about to run; a large one's are warmed while it loads.
     *
     * @param model whose miniature warms the loops up
     * @param dtype of its matrices
     * @param threads of the vector loops
     */
    public static WarmingOps of(ModelConfig model, DType dtype, int threads) {
        WarmingOps warming = new WarmingOps(
                new VectorOps(threads),
                ops -> Thread.ofPlatform()
                        .name("warming")
                        .daemon(true)
                        .start(() -> ops.warmUp(model.miniature(), dtype)));
        if (model.program(1).weights().stream().anyMatch(weight -> weight.layerSize() >= LARGE_LAYER)) {
            warming.begin();
        }
        return warming;
    }

    private void begin() {
        if (!begun.getAndSet(true)) {
            starter.accept(this);
        }
    }

    /** Runs both kinds of loops on a prompt and a token until the vectors' are the faster. */
    void warmUp(ModelConfig miniature, DType dtype) {
        Program program = miniature.program(miniature.contextLength());
        int[] prompt = new int[program.contextLength() - 1];
        int[] token = new int[1];
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        try (Arena arena = Arena.ofShared()) {
            ArenaAllocator memory = new ArenaAllocator(arena, WeightLayout.PANELS);
            Weights weights = new RandomModel(miniature, 1).load(program, dtype, memory);
            try (HostForwardPass slow = new HostForwardPass(program, weights, new ScalarOps());
                    HostForwardPass fast = new HostForwardPass(program, weights, new VectorOps(1))) {
                int wins = 0;
                while (!closed && wins < WINS && System.nanoTime() < deadline) {
                    boolean promptWon = nanos(fast, prompt, 0) < nanos(slow, prompt, 0);
                    boolean tokenWon = nanos(fast, token, prompt.length) < nanos(slow, token, prompt.length);
                    wins = promptWon && tokenWon ? wins + 1 : 0;
                }
            }
        }
        warm = true;
        warming.countDown();
    }

    private static long nanos(HostForwardPass pass, int[] tokens, int position) {
        long started = System.nanoTime();
        pass.forward(tokens, position);
        return System.nanoTime() - started;
    }

    /** Whether vectors have taken over. */
    boolean isWarm() {
        return warm;
    }

    @Override
    protected HostOps delegate() {
        return warm ? vector : plain;
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
        long own = (long) rows * weight.rows() * weight.columns();
        if (products.addAndGet(own) >= PATIENT_PRODUCTS) {
            begin();
        }
        boolean many = own >= MANY_PRODUCTS;
        if (!many && own >= LARGE_LAYER) {
            begin();
            awaitWarmth();
        }
        (many ? vector : delegate()).linear(x, weight, bias, activation, residual, rows, out);
    }

    private void awaitWarmth() {
        try {
            boolean _ = warming.await(PATIENCE_NANOS, TimeUnit.NANOSECONDS);
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
