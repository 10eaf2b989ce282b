package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.checkpoint.Weights;
import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.Program;

/**
 * {@link ScalarOps} until the compiler has reached {@link VectorOps}, whose loops make an object of every vector before that
 * and are many times slower than plain ones. A thread of its own runs them on the same weights until they are the faster; then
 * they take over, from one Op to the next. Both give the same bits, so that nobody sees the change.
 *
 * <p>For models so small that a short text is done before vectors are worth their compilation.
 */
public final class WarmingOps extends ForwardingOps {
    /** Positions of the text that the loops are warmed up on. */
    public static final int CONTEXT = 17;

    /** Rounds in a row that vectors must win: one may be luck. */
    private static final int WINS = 3;

    /** A model for which vectors have not won by then is so small that it does not matter. */
    private static final long PATIENCE_NANOS = 4_000_000_000L;

    /** So many products take plain loops longer than vectors that are not compiled yet. */
    private static final long MANY_PRODUCTS = 1 << 26;

    private final HostOps plain = new ScalarOps();
    private final HostOps vector;
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
     * @param program with a context of {@link #CONTEXT}, or of what the model has if that is less
     * @param weights the program's; once this is closed they may be freed
     * @param threads of the vector loops
     */
    public static WarmingOps start(Program program, Weights weights, int threads) {
        WarmingOps ops = new WarmingOps(new VectorOps(threads));
        Thread.ofPlatform().name("warming").daemon(true).start(() -> ops.warmUp(program, weights));
        return ops;
    }

    /** Runs both kinds of loops on a prompt and a token until the vectors' are the faster. */
    void warmUp(Program program, Weights weights) {
        int[] prompt = new int[Math.max(1, program.contextLength() - 1)];
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        try (HostForwardPass slow = new HostForwardPass(program, weights, new ScalarOps());
                HostForwardPass fast = new HostForwardPass(program, weights, new VectorOps(1))) {
            int wins = 0;
            while (!closed && wins < WINS && System.nanoTime() < deadline) {
                boolean promptWon = nanos(fast, prompt, 0) < nanos(slow, prompt, 0);
                int last = program.contextLength() - 1;
                boolean tokenWon = nanos(fast, new int[1], last) < nanos(slow, new int[1], last);
                wins = promptWon && tokenWon ? wins + 1 : 0;
            }
            warm = true;
        } catch (IllegalStateException freed) {
            if (!closed) {
                throw freed;
            }
        }
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
            boolean addsToOutput,
            int rows,
            float[] out) {
        boolean many = (long) rows * weight.rows() * weight.columns() >= MANY_PRODUCTS;
        (many ? vector : delegate()).linear(x, weight, bias, activation, addsToOutput, rows, out);
    }

    @Override
    public void close() {
        closed = true;
        vector.close();
    }
}
