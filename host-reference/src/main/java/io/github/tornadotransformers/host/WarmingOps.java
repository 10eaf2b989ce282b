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

/**
 * {@link ScalarOps} until the compiler has reached {@link VectorOps}, whose loops make an object of every vector before that
 * and are many times slower than plain ones. A thread of its own runs them on the same weights until they are the faster; then
 * they take over, from one Op to the next. Both give the same bits, so that nobody sees the change. A layer that is so large that
 * plain loops would take longer for a token than the warming does waits for it.
 *
 * <p>For models so small that a short text is done before vectors are worth their compilation.
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

    private final HostOps plain = new ScalarOps();
    private final HostOps vector;
    private final CountDownLatch warming = new CountDownLatch(1);
    private volatile boolean warm;
    private volatile boolean closed;

    /** @param vector what takes over; closed with this */
    WarmingOps(HostOps vector) {
        super(vector);
        this.vector = vector;
    }

    /**
     * Starts the warming.
     *
     * @param model whose miniature warms the loops up
     * @param dtype of its matrices
     * @param threads of the vector loops
     */
    public static WarmingOps start(ModelConfig model, DType dtype, int threads) {
        WarmingOps ops = new WarmingOps(new VectorOps(threads));
        Thread.ofPlatform().name("warming").daemon(true).start(() -> ops.warmUp(model.miniature(), dtype));
        return ops;
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
        long products = (long) rows * weight.rows() * weight.columns();
        boolean many = products >= MANY_PRODUCTS;
        if (!many && products >= LARGE_LAYER) {
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
