package io.github.tornadotransformers.training;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Windows of a text in a random order, each once an epoch; every epoch cuts the text elsewhere. Which window comes when
 * depends on the seed alone, so that a run needs to remember nothing but how many it has seen.
 *
 * <p>One window of {@link #START_EVERY} is moved to the next paragraph and begins with the start token: from it the model
 * learns how a text begins. The token is never a target.
 */
final class WindowSampler {
    private static final int START_EVERY = 8;
    private static final long EPOCH_SEED = 0x9E3779B97F4A7C15L;

    private final int[] ids;
    private final int context;
    private final long seed;
    private final OptionalInt startToken;
    private final int[] paragraphs;
    private final int windows;
    private final int slack;
    private long epoch = -1;
    private int offset;
    private int[] order = {};

    /** @param newline the id of a line's end, two of which end a paragraph */
    WindowSampler(int[] ids, int context, long seed, OptionalInt startToken, int newline) {
        this.ids = ids;
        this.context = context;
        this.seed = seed;
        this.startToken = startToken;
        int fitting = (ids.length - 1) / context;
        windows = Math.max(1, fitting - 1);
        slack = ids.length - 1 - windows * context;
        paragraphs = IntStream.range(2, Math.max(2, ids.length - context + 1))
                .filter(at -> ids[at - 1] == newline && ids[at - 2] == newline)
                .toArray();
    }

    int windowsPerEpoch() {
        return windows;
    }

    /** {@code context + 1} ids: of the inputs, and one more for the last target. */
    int[] window(long index) {
        beginEpoch(index / windows);
        int start = offset + order[(int) (index % windows)] * context;
        if (index % START_EVERY == 0 && startToken.isPresent()) {
            int next = Arrays.binarySearch(paragraphs, start);
            int at = next >= 0 ? next : -next - 1;
            if (at < paragraphs.length) {
                return startingAt(paragraphs[at]);
            }
        }
        return Arrays.copyOfRange(ids, start, start + context + 1);
    }

    private int[] startingAt(int paragraph) {
        int[] window = new int[context + 1];
        window[0] = startToken.getAsInt();
        System.arraycopy(ids, paragraph, window, 1, context);
        return window;
    }

    private void beginEpoch(long wanted) {
        if (wanted == epoch) {
            return;
        }
        epoch = wanted;
        Random random = new Random(seed + EPOCH_SEED * (epoch + 1));
        offset = random.nextInt(slack + 1);
        order = IntStream.range(0, windows).toArray();
        for (int i = windows - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
    }
}
