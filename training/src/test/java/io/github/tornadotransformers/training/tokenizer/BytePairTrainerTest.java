package io.github.tornadotransformers.training.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.SharedData;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.testsupport.RandomData;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BytePairTrainerTest {
    private static final int BYTES = 256;

    @TempDir
    private Path folder;

    @Test
    void theMostFrequentPairIsMergedFirst() {
        BytePairEncoding encoding = BytePairTrainer.train("abab abab cd", BYTES + 3);
        assertThat(encoding.merges().getFirst()).isEqualTo(new BytePairEncoding.Merge("a", "b"));
        assertThat(encoding.merges().get(1)).isEqualTo(new BytePairEncoding.Merge("ab", "ab"));
        assertThat(encoding.pieces()).hasSize(BYTES + 3);
        assertThat(encoding.pieces().getLast()).isEqualTo(BytePairEncoding.END_OF_TEXT);
    }

    @Test
    void ofEquallyFrequentPairsTheOneWithTheLowerIdsIsMerged() {
        BytePairEncoding encoding = BytePairTrainer.train("zx\nzx\nzb\nzb\naz\naz", BYTES + 4);
        assertThat(encoding.merges().stream().map(merge -> merge.left() + merge.right()))
                .containsExactly("az", "zb", "zx");
    }

    @Test
    void aRunOfOneLetterIsMergedFromTheLeft() {
        BytePairEncoding encoding = BytePairTrainer.train("aaaaa aaaaa", BYTES + 3);
        assertThat(encoding.merges())
                .containsExactly(new BytePairEncoding.Merge("a", "a"), new BytePairEncoding.Merge("aa", "a"));
    }

    @Test
    void pairsDoNotReachOverWords() {
        BytePairEncoding encoding = BytePairTrainer.train("a b a b a b", BYTES + 2);
        assertThat(encoding.merges()).containsExactly(new BytePairEncoding.Merge("Ġ", "b"));
    }

    @Test
    void aVocabularyThatTheTextCannotFillIsRefusedWithWhatItCan() {
        assertThatThrownBy(() -> BytePairTrainer.train("abab", BYTES + 100))
                .hasMessageContaining("356")
                .hasMessageContaining("258");
        assertThatThrownBy(() -> BytePairTrainer.train("", 300)).hasMessageContaining("257");
        assertThatThrownBy(() -> BytePairTrainer.train("abab", BYTES)).hasMessageContaining("at least 257");
    }

    /** Counts all pairs of all words again for every merge. */
    private static List<BytePairEncoding.Merge> naiveMerges(List<String> words, int count) {
        List<List<String>> split = words.stream()
                .map(word -> word.codePoints()
                        .mapToObj(Character::toString)
                        .collect(Collectors.toCollection(ArrayList::new)))
                .collect(Collectors.toList());
        List<String> pieces = new ArrayList<>(ByteSpelling.all());
        List<BytePairEncoding.Merge> merges = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            BytePairEncoding.Merge best = split.stream()
                    .flatMap(word -> IntStream.range(0, word.size() - 1)
                            .mapToObj(at -> new BytePairEncoding.Merge(word.get(at), word.get(at + 1))))
                    .collect(Collectors.groupingBy(merge -> merge, Collectors.counting()))
                    .entrySet()
                    .stream()
                    .min(Comparator.comparingLong((Map.Entry<BytePairEncoding.Merge, Long> entry) -> -entry.getValue())
                            .thenComparingInt(
                                    entry -> pieces.indexOf(entry.getKey().left()))
                            .thenComparingInt(
                                    entry -> pieces.indexOf(entry.getKey().right())))
                    .orElseThrow()
                    .getKey();
            merges.add(best);
            String merged = best.left() + best.right();
            if (!pieces.contains(merged)) {
                pieces.add(merged);
            }
            for (List<String> word : split) {
                for (int at = 0; at + 1 < word.size(); at++) {
                    if (word.get(at).equals(best.left()) && word.get(at + 1).equals(best.right())) {
                        word.set(at, merged);
                        word.remove(at + 1);
                    }
                }
            }
        }
        return merges;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void mergesAreThoseOfCountingEverythingAgain(long seed) {
        RandomData data = new RandomData(seed);
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            StringBuilder word = new StringBuilder();
            for (int letter : data.ints(data.between(1, 9), 4)) {
                word.append((char) ('a' + letter));
            }
            words.add(word.toString());
        }
        BytePairEncoding encoding = BytePairTrainer.train(String.join("\n", words), BYTES + 41);
        assertThat(encoding.merges())
                .isEqualTo(naiveMerges(words, encoding.merges().size()));
    }

    private Tokenizer loaded(BytePairEncoding encoding) throws IOException {
        Files.writeString(
                folder.resolve("tokenizer.json"), encoding.toTokenizerJson().toString());
        Files.writeString(
                folder.resolve("tokenizer_config.json"),
                BytePairEncoding.toTokenizerConfigJson().toString());
        return Tokenizer.load(folder);
    }

    /** Encodes by the merges alone: the reference library must agree. */
    private static List<String> encode(BytePairEncoding encoding, String word) {
        List<String> pieces = new ArrayList<>();
        for (byte each : word.getBytes(StandardCharsets.UTF_8)) {
            pieces.add(ByteSpelling.all().get(ByteSpelling.id(each)));
        }
        for (BytePairEncoding.Merge merge : encoding.merges()) {
            for (int at = 0; at + 1 < pieces.size(); at++) {
                if (pieces.get(at).equals(merge.left()) && pieces.get(at + 1).equals(merge.right())) {
                    pieces.set(at, merge.left() + merge.right());
                    pieces.remove(at + 1);
                }
            }
        }
        return pieces;
    }

    @Test
    void theReferenceLibraryEncodesByTheMergesAndDecodesBack() throws IOException {
        String text =
                "The caf\u00e9's 42 na\u00efve owls said: \"Who? Who, who!\"\n\n  And who\u2019d not?\t\u732b\ud83d\ude00 ";
        BytePairEncoding encoding = BytePairTrainer.train(text.repeat(3), 300);
        Tokenizer tokenizer = loaded(encoding);
        assertThat(tokenizer.vocabSize()).isEqualTo(300);
        for (String sample : List.of(text, "Who\n", "\u0000\u007f\u00ad\u0100", " ", "unseen words, 1984", "")) {
            assertThat(tokenizer.decode(tokenizer.encode(sample))).isEqualTo(sample);
        }
        for (String word : List.of("caf\u00e9", " owls", " who", "\ud83d\ude00", " said")) {
            assertThat(tokenizer.pieces(tokenizer.encode(word))).isEqualTo(encode(encoding, word));
        }
        assertThat(tokenizer.startToken()).hasValue(299);
        assertThat(tokenizer.encode(BytePairEncoding.END_OF_TEXT)).doesNotContain(299);
    }

    @Test
    void aLongTextRoundTripsAndIsShortenedByMerges() throws IOException {
        String text = Files.readString(SharedData.require("text/tinyshakespeare.txt"));
        BytePairEncoding encoding = BytePairTrainer.train(text, 1024);
        assertThat(BytePairTrainer.train(text, 1024)).isEqualTo(encoding);
        Tokenizer tokenizer = loaded(encoding);
        int[] ids = tokenizer.encode(text);
        assertThat(tokenizer.decode(ids)).isEqualTo(text);
        assertThat(ids.length).isLessThan(text.length() / 2);
        assertThat(ids).doesNotContain(1023);
    }
}
