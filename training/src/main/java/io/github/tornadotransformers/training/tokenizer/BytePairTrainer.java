package io.github.tornadotransformers.training.tokenizer;

import io.github.tornadotransformers.models.InvalidRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Learns a byte-level byte-pair encoding from a text: again and again, the pair of neighbouring pieces that occurs most
 * often becomes a piece of its own. Pairs never reach over the bounds of words, which GPT-2's pattern finds. The same text
 * gives the same encoding: of pairs that occur equally often, the one with the lower id on the left is merged, then the one
 * with the lower id on the right; bytes have the lowest ids, then merges in the order in which they were found.
 *
 * <p>Source: Sennrich et al. 2016, arXiv:1508.07909; the pattern and the spelling of bytes are those of GPT-2.
 */
public final class BytePairTrainer {
    /** Contractions, words, numbers, other signs (each with at most one space in front), and white space. */
    private static final Pattern WORDS = Pattern.compile(
            "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
            Pattern.UNICODE_CHARACTER_CLASS);

    /** A pair that occurs once teaches nothing. */
    private static final int MIN_COUNT = 2;

    private final List<String> pieces = new ArrayList<>(ByteSpelling.all());
    private final Map<String, Integer> ids = new HashMap<>();
    private final List<BytePairEncoding.Merge> merges = new ArrayList<>();
    private final List<Word> words = new ArrayList<>();
    private final Map<Pair, Occurrences> pairs = new HashMap<>();
    private final PriorityQueue<Candidate> queue = new PriorityQueue<>();

    private BytePairTrainer(String text) {
        for (int id = 0; id < pieces.size(); id++) {
            ids.put(pieces.get(id), id);
        }
        countWords(text).forEach((word, count) -> words.add(new Word(symbols(word), count)));
        for (Word word : words) {
            addPairs(word, word.count);
        }
        pairs.forEach((pair, found) -> queue.add(new Candidate(pair, found.count)));
    }

    /**
     * @param vocabSize pieces to learn, the 256 bytes and the end token among them
     * @throws InvalidRequest if that is fewer than 257, or more than the text has pairs for
     */
    public static BytePairEncoding train(String text, int vocabSize) {
        int bytes = ByteSpelling.all().size();
        if (vocabSize <= bytes) {
            throw new InvalidRequest("a vocabulary of " + vocabSize + " pieces, expected at least " + (bytes + 1)
                    + ": every byte and the end token");
        }
        BytePairTrainer trainer = new BytePairTrainer(text);
        while (trainer.pieces.size() < vocabSize - 1) {
            if (!trainer.mergeNext()) {
                throw new InvalidRequest("a vocabulary of " + vocabSize + " pieces, but the text has pairs for "
                        + (trainer.pieces.size() + 1) + ": use a longer text, or a vocabulary of at most that");
            }
        }
        trainer.pieces.add(BytePairEncoding.END_OF_TEXT);
        return new BytePairEncoding(trainer.pieces, trainer.merges);
    }

    private static SequencedMap<String, Integer> countWords(String text) {
        SequencedMap<String, Integer> counts = new LinkedHashMap<>();
        Matcher matcher = WORDS.matcher(text);
        while (matcher.find()) {
            counts.merge(matcher.group(), 1, Integer::sum);
        }
        return counts;
    }

    private static int[] symbols(String word) {
        byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
        int[] symbols = new int[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            symbols[i] = ByteSpelling.id(bytes[i]);
        }
        return symbols;
    }

    /** @return whether there was a pair to merge */
    private boolean mergeNext() {
        Candidate best = queue.poll();
        while (best != null && pairs.get(best.pair).count != best.count) {
            best = queue.poll(); // counted before another merge changed it; the new count is in the queue too
        }
        if (best == null || best.count < MIN_COUNT) {
            return false;
        }
        String left = pieces.get(best.pair.left);
        String right = pieces.get(best.pair.right);
        merges.add(new BytePairEncoding.Merge(left, right));
        int merged = ids.computeIfAbsent(left + right, piece -> {
            pieces.add(piece);
            return pieces.size() - 1;
        });
        replace(best.pair, merged);
        return true;
    }

    private void replace(Pair pair, int merged) {
        Set<Pair> changed = new HashSet<>();
        for (Word word : List.copyOf(pairs.get(pair).words)) {
            changed.addAll(addPairs(word, -word.count));
            word.replace(pair, merged);
            changed.addAll(addPairs(word, word.count));
        }
        for (Pair each : changed) {
            queue.add(new Candidate(each, pairs.get(each).count));
        }
    }

    private List<Pair> addPairs(Word word, int count) {
        List<Pair> found = new ArrayList<>();
        for (int i = 0; i + 1 < word.length; i++) {
            Pair pair = new Pair(word.symbols[i], word.symbols[i + 1]);
            Occurrences occurrences = pairs.computeIfAbsent(pair, _ -> new Occurrences());
            occurrences.count += count;
            if (count > 0) {
                occurrences.words.add(word);
            }
            found.add(pair);
        }
        return found;
    }

    private record Pair(int left, int right) {}

    /** How often a pair occurs, and the words that have, or had, it. */
    private static final class Occurrences {
        private final Set<Word> words = new HashSet<>();
        private long count;
    }

    /** A pair as it was counted; the most frequent comes first. */
    private record Candidate(Pair pair, long count) implements Comparable<Candidate> {
        private static final Comparator<Candidate> ORDER = Comparator.comparingLong(
                        (Candidate candidate) -> -candidate.count)
                .thenComparingInt(candidate -> candidate.pair.left)
                .thenComparingInt(candidate -> candidate.pair.right);

        @Override
        public int compareTo(Candidate other) {
            return ORDER.compare(this, other);
        }
    }

    /** A word of the text as it is split so far. */
    private static final class Word {
        private final int[] symbols;
        private final int count;
        private int length;

        Word(int[] symbols, int count) {
            this.symbols = symbols;
            this.count = count;
            this.length = symbols.length;
        }

        /** From left to right; what is merged does not take part again. */
        void replace(Pair pair, int merged) {
            int to = 0;
            for (int from = 0; from < length; from++) {
                boolean found = from + 1 < length && symbols[from] == pair.left && symbols[from + 1] == pair.right;
                symbols[to++] = found ? merged : symbols[from];
                from += found ? 1 : 0;
            }
            length = to;
        }
    }
}
