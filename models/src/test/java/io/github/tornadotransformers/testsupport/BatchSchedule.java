package io.github.tornadotransformers.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.models.batching.Batch;
import io.github.tornadotransformers.models.batching.Engine;
import io.github.tornadotransformers.models.batching.KvCache;
import io.github.tornadotransformers.models.batching.Span;
import io.github.tornadotransformers.models.batching.Wanted;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Runs texts on an engine in random mixtures: they join and leave, wait for pages, are run in spans of any length, go back, and
 * begin again. What each gets must be, to the bit, what was expected of it.
 */
public final class BatchSchedule {
    private final String name;
    private final Engine engine;
    private final RandomData random;
    private final List<Sequence> waiting;
    private final List<Sequence> running = new ArrayList<>();

    /**
     * What a sequence has, and is to get.
     *
     * @param logits of each token
     */
    @SuppressWarnings("ArrayRecordComponent") // compared by nobody
    public record Text(int[] tokens, float[][] logits) {}

    /** A text, and how far it is. */
    private static final class Sequence {
        private final Text text;
        private KvCache cache;
        private int next;

        Sequence(Text text) {
            this.text = text;
        }

        int length() {
            return text.tokens().length;
        }
    }

    private BatchSchedule(String name, Engine engine, List<Text> texts, RandomData random) {
        this.name = name;
        this.engine = engine;
        this.random = random;
        this.waiting = texts.stream().map(Sequence::new).collect(Collectors.toCollection(ArrayList::new));
    }

    /**
     * Runs all texts to their ends.
     *
     * @param engine with pages for each text by itself
     */
    public static void run(String name, Engine engine, List<Text> texts, RandomData random) {
        new BatchSchedule(name, engine, texts, random).run();
    }

    private void run() {
        while (!waiting.isEmpty() || !running.isEmpty()) {
            if (!waiting.isEmpty() && (running.isEmpty() || random.coin())) {
                Sequence joined = waiting.removeFirst();
                joined.cache = engine.open(joined.length());
                running.add(joined);
            }
            step();
            for (Sequence sequence : List.copyOf(running)) {
                boolean isDone = sequence.next == sequence.length();
                if (isDone || random.between(0, 30) == 0) {
                    sequence.cache.close();
                    running.remove(sequence);
                }
                if (!isDone && !running.contains(sequence)) {
                    sequence.next = 0;
                    waiting.add(sequence);
                }
            }
        }
    }

    /** Some of the sequences, each with some of its tokens: the next, or again from an earlier one. */
    private void step() {
        List<Span> spans = new ArrayList<>();
        List<Sequence> stepping = new ArrayList<>();
        for (Sequence sequence : running) {
            int first = random.between(0, 9) == 0 ? random.between(0, sequence.next) : sequence.next;
            int count = random.coin() ? 1 : random.between(1, 150);
            int end = Math.min(first + count, sequence.length());
            if (end > first && random.between(0, 3) > 0 && sequence.cache.reserve(end)) {
                int[] tokens = Arrays.copyOfRange(sequence.text.tokens(), first, end);
                spans.add(new Span(sequence.cache, first, tokens, Wanted.values()[random.between(0, 2)]));
                sequence.next = end;
                stepping.add(sequence);
            }
        }
        if (spans.isEmpty()) {
            // All pages are with sequences that want more: one begins again.
            Sequence last = running.getLast();
            last.cache.close();
            last.cache = engine.open(last.length());
            last.next = 0;
            return;
        }
        int[] seen = new int[spans.size()];
        engine.run(new Batch(spans), (span, position, logits, offset) -> {
            float[] expected = stepping.get(span).text.logits()[position];
            float[] actual = Arrays.copyOfRange(logits, offset, offset + expected.length);
            Bits.assertSame(name + ", position " + position, actual, expected);
            Span own = spans.get(span);
            assertThat(position).isEqualTo(own.end() - own.wanted() + seen[span]);
            seen[span]++;
        });
        assertThat(seen).containsExactly(spans.stream().mapToInt(Span::wanted).toArray());
    }
}
