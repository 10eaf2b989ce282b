package io.github.tornadotransformers.models.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.github.tornadotransformers.models.CheckpointException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class GgufFileTest {
    private static final int F32 = 0;
    private static final int Q4_0 = 2;
    private static final int UINT32 = 4;
    private static final int BOOL = 7;
    private static final int TEXT = 8;
    private static final int ARRAY = 9;
    private static final int UINT64 = 10;

    @TempDir
    Path folder;

    static Stream<Arguments> hostileFiles() {
        return Stream.of(
                arguments(new RawGguf(), "has 0 bytes, too short for a GGUF file"),
                arguments(new RawGguf().put32(0x4655_4747), "has 4 bytes, too short"),
                arguments(new RawGguf().put64(0), "begins with 0x00000000, expected \"GGUF\""),
                arguments(new RawGguf().put32(0x4655_4747).put32(1), "of version 1, expected 2 or 3"),
                arguments(new RawGguf().put32(0x4655_4747).put32(99), "of version 99, expected 2 or 3"),
                arguments(new RawGguf().put32(0x4655_4747).put32(3 << 24), "big-endian, which is not implemented"),
                arguments(new RawGguf().put32(0x4655_4747).put32(3), "ends in the middle of the number of tensors"),
                arguments(RawGguf.of(1, 0), "says that 1 tensors follow, but only 8 bytes do"),
                arguments(RawGguf.of(-1, 0), "18446744073709551615 tensors follow"),
                arguments(RawGguf.of(0, Long.MAX_VALUE), "9223372036854775807 keys follow, but only 0 bytes do"),
                arguments(RawGguf.of(0, 1).put64(Long.MIN_VALUE).put32(0), "a key has 9223372036854775808 bytes"),
                arguments(RawGguf.of(0, 1).put64(99).put32(0), "a key has 99 bytes, but only 4 follow"),
                arguments(
                        RawGguf.of(0, 1).text("k".repeat(65_536)).put32(0), "has 65536 bytes, expected at most 65535"),
                arguments(RawGguf.of(0, 1).put64(1).put8(0xFF).put64(0), "a key is not UTF-8"),
                arguments(RawGguf.of(0, 1).key("k", 13), "key \"k\" has values of type 13"),
                arguments(RawGguf.of(0, 1).key("k", -1), "key \"k\" has values of type 4294967295"),
                arguments(RawGguf.of(0, 1).key("k", UINT32).put8(0), "ends in the middle of key \"k\""),
                arguments(RawGguf.of(0, 1).key("k", BOOL).put8(2), "key \"k\" is 2, expected 0 or 1"),
                arguments(RawGguf.of(0, 1).key("k", UINT64).put64(-2), "is 18446744073709551614, more than"),
                arguments(RawGguf.of(0, 1).key("k", TEXT).put64(5), "key \"k\" has 5 bytes, but only 0 follow"),
                arguments(RawGguf.of(0, 1).key("k", ARRAY).put32(ARRAY).put64(0), "list of lists"),
                arguments(RawGguf.of(0, 1).key("k", ARRAY).put32(UINT32).put64(9), "9 values of key \"k\" follow"),
                arguments(RawGguf.of(0, 1).key("k", ARRAY).put32(TEXT).put64(1L << 60), "only 0 bytes do"),
                arguments(RawGguf.of(0, 2).key("k", BOOL).put8(0).key("k", BOOL).put8(0), "key \"k\" is there twice"),
                arguments(alignment(0), "key \"general.alignment\" is 0, expected a power of two"),
                arguments(alignment(24), "is 24, expected a power of two from 8 to 65536"),
                arguments(alignment(1 << 20), "is 1048576, expected a power of two"),
                arguments(
                        RawGguf.of(0, 1).key("general.alignment", TEXT).text("x"),
                        "key \"general.alignment\" is x, expected a power of two"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, 0, 1, 1, 1, 1, 1), "has 5 dimensions, expected at most 4"),
                arguments(RawGguf.of(1, 0).text("t").put32(-1).put64(0), "has 4294967295 dimensions"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, 0, 0), "has a dimension of 0"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, 0, -3), "has a dimension of 18446744073709551613"),
                arguments(RawGguf.of(1, 0).tensor("t", 77, 0, 4), "has type 77, which is not a known one"),
                arguments(RawGguf.of(1, 0).tensor("t", 4, 0, 32), "has type 4, which is not a known one"),
                arguments(RawGguf.of(1, 0).tensor("t", Q4_0, 0, 33), "rows of 33 elements, expected a multiple of 32"),
                arguments(
                        RawGguf.of(1, 0).tensor("t", F32, 0, 1L << 40, 1L << 40), "more elements than a file can hold"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, 0, 1L << 61), "more elements than a file can hold"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, 0, 4).data(15), "has 16 bytes, but only 15 follow"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, 0, 4), "has 16 bytes, but only 0 follow"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, 32, 4).data(99), "is at offset 32, expected 0"),
                arguments(RawGguf.of(1, 0).tensor("t", F32, -32, 4).data(99), "is at offset 18446744073709551584"),
                arguments(
                        RawGguf.of(2, 0)
                                .tensor("t", F32, 0, 4)
                                .tensor("u", F32, 16, 4)
                                .data(99),
                        "tensor \"u\" is at offset 16, expected 32, behind the one before it"),
                arguments(
                        RawGguf.of(2, 0)
                                .tensor("t", F32, 0, 4)
                                .tensor("u", F32, 0, 4)
                                .data(99),
                        "tensor \"u\" is at offset 0, expected 32"),
                arguments(
                        RawGguf.of(2, 0)
                                .tensor("t", F32, 0, 4)
                                .tensor("t", F32, 32, 4)
                                .data(99),
                        "tensor \"t\" is there twice"));
    }

    private static RawGguf alignment(int value) {
        return RawGguf.of(0, 1).key("general.alignment", UINT32).put32(value);
    }

    @ParameterizedTest
    @MethodSource("hostileFiles")
    void aFileThatBreaksARuleIsRefusedInOneLine(RawGguf raw, String words) {
        Path file = raw.write(folder.resolve("model.gguf"));
        assertThat(refusal(file)).startsWith(file.toString()).contains(words);
    }

    private static String refusal(Path file) {
        CheckpointException refused = catchThrowableOfType(CheckpointException.class, () -> GgufFile.open(file));
        assertThat(refused).as("expected a refusal").isNotNull();
        assertThat(refused.getMessage()).doesNotContainPattern("\\p{Cntrl}");
        return refused.getMessage();
    }

    @Test
    void aMissingFileIsNamed() {
        assertThat(refusal(folder.resolve("none.gguf"))).contains("none.gguf cannot be read: there is no such file");
    }

    @Test
    void keysAndTensorsAreReadAsTheyWereWritten() {
        SequencedMap<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put("a", new GgufValue.Whole(4_000_000_000L));
        keys.put("b", new GgufValue.Whole(1L << 40));
        keys.put("c", new GgufValue.Real(0.22));
        keys.put("d", new GgufValue.Flag(true));
        keys.put("e", new GgufValue.Text("ü"));
        keys.put("f", new GgufValue.Texts(List.of("", "x")));
        keys.put("g", new GgufValue.Numbers(List.of(1.0, -2.0), true));
        keys.put("h", new GgufValue.Numbers(List.of(0.5, -1000.0), false));
        List<GgufHeaderWriter.Entry> entries = List.of(
                new GgufHeaderWriter.Entry("t", GgufTensorType.Q8_0, List.of(3L, 64L)),
                new GgufHeaderWriter.Entry("u", GgufTensorType.F32, List.of(5L)));
        byte[] header = GgufHeaderWriter.bytes(keys, entries);
        byte[] bytes = Arrays.copyOf(header, header.length + 224 + 20);
        GgufFile file = GgufFile.open(RawGguf.write(folder.resolve("m.gguf"), bytes));

        assertThat(file.metadata().whole("a")).hasValue(4_000_000_000L);
        assertThat(file.metadata().whole("b")).hasValue(1L << 40);
        assertThat(file.metadata().number("c")).contains(0.22);
        assertThat(file.metadata().flag("d")).contains(true);
        assertThat(file.metadata().text("e")).contains("ü");
        assertThat(file.metadata().texts("f")).contains(List.of("", "x"));
        assertThat(file.metadata().numbers("g")).contains(List.of(1.0, -2.0));
        assertThat(file.metadata().numbers("h")).contains(List.of(0.5, -1000.0));
        assertThat(file.tensors().get("t").shape()).containsExactly(3L, 64L);
        assertThat(file.tensors().get("t").bytes()).isEqualTo(204);
        assertThat(file.tensors().get("u").offset()).isEqualTo(header.length + 224L);
    }

    @Test
    void aKeyOfAnotherTypeIsNamed() {
        GgufFile file = GgufFile.open(
                RawGguf.of(0, 1).key("llama.block_count", TEXT).text("many").write(folder.resolve("m.gguf")));
        CheckpointException refused = catchThrowableOfType(
                CheckpointException.class, () -> file.metadata().whole("llama.block_count"));
        assertThat(refused).hasMessageContaining("key \"llama.block_count\" is \"many\", expected a whole number");
    }

    @Test
    void partsAreReadTogetherWhicheverIsNamed() {
        part(1, 3, Map.of("t", 4L));
        part(2, 3, Map.of("u", 8L));
        Path last = part(3, 3, Map.of("v", 12L));

        assertThat(GgufFile.open(last).tensors().keySet()).containsExactly("t", "u", "v");
    }

    @Test
    void aMissingPartIsNamed() {
        Path first = part(1, 2, Map.of("t", 4L));
        assertThat(refusal(first)).contains("m-00002-of-00002.gguf is missing");
    }

    @Test
    void aTensorOfTwoPartsIsNamed() {
        part(1, 2, Map.of("t", 4L));
        assertThat(refusal(part(2, 2, Map.of("t", 4L)))).contains("tensor \"t\" is there twice");
    }

    @Test
    void aPartUnderAnotherNameIsRefused() {
        Path renamed = part(1, 2, Map.of("t", 4L)).resolveSibling("other.gguf");
        assertThat(part(1, 2, Map.of("t", 4L)).toFile().renameTo(renamed.toFile()))
                .isTrue();
        assertThat(refusal(renamed)).contains("key \"split.count\" is 2, expected as many as in the file's name");
    }

    private Path part(int number, int count, Map<String, Long> sizes) {
        SequencedMap<String, GgufValue> keys = new LinkedHashMap<>();
        keys.put("split.no", new GgufValue.Whole(number - 1));
        keys.put("split.count", new GgufValue.Whole(count));
        List<GgufHeaderWriter.Entry> entries = sizes.entrySet().stream()
                .map(each -> new GgufHeaderWriter.Entry(each.getKey(), GgufTensorType.F32, List.of(each.getValue())))
                .toList();
        byte[] header = GgufHeaderWriter.bytes(keys, entries);
        byte[] bytes = Arrays.copyOf(header, header.length + 64);
        return RawGguf.write(folder.resolve("m-%05d-of-%05d.gguf".formatted(number, count)), bytes);
    }
}
