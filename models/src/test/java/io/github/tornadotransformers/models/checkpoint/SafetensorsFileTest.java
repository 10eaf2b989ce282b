package io.github.tornadotransformers.models.checkpoint;

import static io.github.tornadotransformers.models.checkpoint.RawSafetensors.tensor;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsFileTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("model.safetensors");
    }

    private String rejectionOfBytes(byte[] bytes) {
        RawSafetensors.writeBytes(file, bytes);
        String line = Rejection.line(() -> SafetensorsFile.open(file));
        assertThat(line).startsWith(file.toString());
        return line;
    }

    private String rejection(String header, int dataBytes) {
        byte[] bytes = header.getBytes(StandardCharsets.UTF_8);
        return rejectionOfBytes(RawSafetensors.bytes(bytes.length, bytes, dataBytes));
    }

    private SafetensorsFile opened(String header, int dataBytes) {
        return SafetensorsFile.open(RawSafetensors.write(file, header, dataBytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 7})
    void aFileWithoutRoomForTheLengthIsTooShort(int bytes) {
        assertThat(rejectionOfBytes(new byte[bytes])).contains("has " + bytes + " bytes, too short", "at least 8");
    }

    @ParameterizedTest
    @CsvSource({"60, 60", "0xFFFFFFFF00000000, 18446744069414584320", "0x7FFFFFFFFFFFFFFF, 9223372036854775807"})
    void aHeaderLongerThanTheFileIsNamed(String length, String shown) {
        byte[] bytes = RawSafetensors.bytes(
                Long.parseUnsignedLong(length.replace("0x", ""), length.startsWith("0x") ? 16 : 10), new byte[0], 0);
        assertThat(rejectionOfBytes(bytes)).contains("header has " + shown + " bytes", "only 0 follow");
    }

    @Test
    void aHeaderOfMoreThan100MegabytesIsRefusedUnread() throws IOException {
        Files.write(file, RawSafetensors.bytes(100_000_001, new byte[0], 0));
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), 100_000_020);
        }

        assertThat(Rejection.line(() -> SafetensorsFile.open(file)))
                .contains("header has 100000001 bytes, expected at most 100000000");
    }

    @Test
    void aHeaderThatIsNotUtf8IsRefused() {
        assertThat(rejectionOfBytes(RawSafetensors.bytes(1, new byte[] {(byte) 0xFF}, 0)))
                .contains("not UTF-8");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{ | not valid JSON",
                "{'a':1} | not valid JSON",
                "{\"a\": | not valid JSON",
                "[] | the header is a list, expected a JSON object",
                "7 | the header is 7, expected a JSON object",
                "'   ' | the header is empty, expected a JSON object",
                "{}{} | goes on after its JSON object"
            })
    void aHeaderThatIsNotAJsonObjectIsRefused(String header, String words) {
        assertThat(rejection(header, 0)).contains(words);
    }

    @Test
    void anEmptyHeaderIsRefused() {
        assertThat(rejection("", 0)).contains("the header is empty, expected a JSON object");
    }

    @Test
    void tensorsAtTheSamePlaceOverlap() {
        String header = IntStream.range(0, 10)
                .mapToObj(i -> tensor("t" + i, "F32", "[2,2]", 0, 16))
                .collect(Collectors.joining(",", "{", "}"));
        assertThat(rejection(header, 16)).contains("tensor \"t1\" overlaps the one before it by 16 bytes");
    }

    @ParameterizedTest
    @CsvSource({"7, 1 byte", "5, 3 bytes"})
    void tensorsThatShareAFewBytesOverlap(int begin, String words) {
        String header = "{" + tensor("a", "U8", "[8]", 0, 8) + "," + tensor("b", "U8", "[4]", begin, begin + 4) + "}";
        assertThat(rejection(header, begin + 4)).endsWith("tensor \"b\" overlaps the one before it by " + words);
    }

    @Test
    void bytesAfterTheLastTensorAreCounted() {
        assertThat(rejection("{" + tensor("t", "F32", "[2]", 0, 8) + "}", 11))
                .contains("3 bytes after the last tensor belong to no tensor");
    }

    @Test
    void bytesWithoutAnyTensorAreCounted() {
        assertThat(rejection("{}", 3)).contains("3 bytes after the last tensor");
    }

    @Test
    void aFileTwoBytesShortNamesTheTensor() {
        assertThat(rejection("{" + tensor("t", "F32", "[2]", 0, 8) + "}", 6))
                .contains("tensor \"t\" ends at byte 8", "holds only 6", "2 bytes are missing");
    }

    @Test
    void aHoleNamesTheTensorBehindIt() {
        String header = "{" + tensor("a", "F32", "[1]", 0, 4) + "," + tensor("b", "F32", "[1]", 8, 12) + "}";
        assertThat(rejection(header, 12)).contains("4 bytes before tensor \"b\" belong to no tensor");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[2,18446744073709551614] | 16 | shape has 18446744073709551614, more than",
                "[4294967296,4294967296] | 0 | more elements than a file can hold",
                "[4611686018427387904] | 0 | more elements than a file can hold",
                "[2,2] | 4 | F32 and shape [2, 2] needs 16 bytes, but data_offsets give it 4",
                "[32,8] | 65536 | needs 1024 bytes, but data_offsets give it 65536",
                "[-2] | 8 | shape has -2, expected whole numbers of at least 0",
                "[1.5] | 6 | shape has 1.5, expected whole numbers",
                "[\"2\"] | 8 | shape has 2, expected whole numbers",
                "[[2]] | 8 | shape has a list, expected whole numbers",
                "[null] | 8 | shape has null, expected whole numbers",
                "2 | 8 | shape is 2, expected a list",
            })
    void aShapeThatDoesNotFitItsBytesNamesTheTensor(String shape, int bytes, String words) {
        assertThat(rejection("{" + tensor("the.weight", "F32", shape, 0, bytes) + "}", bytes))
                .contains("tensor \"the.weight\"", words);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"shape\":[1],\"data_offsets\":[0,4]} | has no dtype",
                "{\"dtype\":\"F32\",\"data_offsets\":[0,4]} | has no shape",
                "{\"dtype\":\"F32\",\"shape\":[1]} | has no data_offsets",
                "{\"dtype\":7,\"shape\":[1],\"data_offsets\":[0,4]} | dtype is 7, expected a text",
                "{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]} | has dtype twice",
                "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]} | has 1 numbers, expected begin and end",
                "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]} | begins at 4 and ends before, at 0",
                "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]} | data_offsets has -4",
                "[] | is a list, expected an object",
                "null | is null, expected an object",
            })
    void aTensorWithoutAllItsFieldsIsNamed(String tensor, String words) {
        assertThat(rejection("{\"t\":" + tensor + "}", 4)).contains("tensor \"t\"", words);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"__metadata__\":[]} | __metadata__ is a list, expected an object",
                "{\"__metadata__\":{\"a\":1}} | __metadata__ \"a\" is 1, expected a text",
                "{\"__metadata__\":{},\"__metadata__\":{}} | __metadata__ is there twice",
            })
    void metadataThatIsNotTextsIsRefused(String header, String words) {
        assertThat(rejection(header, 0)).contains(words);
    }

    @Test
    void theSameTensorTwiceIsNamed() {
        String header = "{" + tensor("twin", "F32", "[1]", 0, 4) + "," + tensor("twin", "F32", "[1]", 4, 8) + "}";
        assertThat(rejection(header, 8)).contains("tensor \"twin\" is there twice");
    }

    @Test
    void aNameWithControlCharactersStaysOnOneLine() {
        assertThat(rejection("{\"a\\n\\u001b[31m\":7}", 0)).contains("tensor \"a\\u000a\\u001b[31m\" is 7");
    }

    @Test
    void aGitLfsPointerSaysHowToGetTheFile() {
        byte[] pointer =
                "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n".getBytes(StandardCharsets.UTF_8);
        assertThat(rejectionOfBytes(pointer)).contains("is a Git LFS pointer, not the file", "git lfs pull");
    }

    @Test
    void aMissingFileIsNamed() {
        assertThat(Rejection.line(() -> SafetensorsFile.open(file)))
                .isEqualTo(file + " cannot be read: there is no such file");
    }

    @Test
    void tensorsMayBeEmptyOrScalars() {
        SafetensorsFile opened = opened(
                "{" + tensor("empty", "F32", "[2,0]", 4, 4) + "," + tensor("scalar", "F32", "[]", 0, 4) + "}", 4);

        assertThat(opened.tensors().get("empty").shape()).containsExactly(2L, 0L);
        assertThat(opened.tensors().get("scalar").shape()).isEmpty();
    }

    @Test
    void tensorsMayStandInAnyOrderInTheHeader() {
        String header = "{" + tensor("b", "F32", "[1]", 4, 8) + "," + tensor("a", "F32", "[1]", 0, 4) + "}";
        assertThat(opened(header, 8).tensors().keySet()).containsExactly("b", "a");
    }

    @Test
    void aHeaderMayBePaddedWithSpaces() {
        assertThat(opened("{" + tensor("t", "F32", "[1]", 0, 4) + "}     ", 4).tensors())
                .containsOnlyKeys("t");
    }

    @Test
    void metadataMayBeEmptyOrTexts() {
        assertThat(opened("{\"__metadata__\":{}}", 0).metadata()).isEmpty();
        assertThat(opened("{\"__metadata__\":{\"format\":\"pt\"}}", 0).metadata())
                .isEqualTo(Map.of("format", "pt"));
    }

    @Test
    void unknownFieldsOfATensorArePassedOver() {
        String header = "{\"t\":{\"dtype\":\"F32\",\"note\":{\"a\":[1]},\"shape\":[1],\"data_offsets\":[0,4]}}";
        assertThat(opened(header, 4).tensors()).containsOnlyKeys("t");
    }

    @Test
    void anUnknownTypeIsLeftToWhoeverUsesTheTensor() {
        StoredTensor tensor =
                opened("{" + tensor("t", "XYZ", "[3]", 0, 5) + "}", 5).tensors().get("t");

        assertThat(tensor.dtype()).isEqualTo("XYZ");
        assertThat(tensor.type()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"BOOL, 3", "U8, 3", "F8_E4M3, 3", "I16, 6", "BF16, 6", "U32, 12", "I64, 24", "F64, 24"})
    void everyTypeHasItsSize(String dtype, int bytes) {
        assertThat(opened("{" + tensor("t", dtype, "[3]", 0, bytes) + "}", bytes)
                        .tensors())
                .containsOnlyKeys("t");
    }

    @Test
    void aHeaderOfMoreThanAMegabyteLoads() {
        int tensors = 20_000;
        String header = IntStream.range(0, tensors)
                .mapToObj(i -> tensor("a.tensor.with.a.rather.long.name." + i, "U8", "[1]", i, i + 1))
                .collect(Collectors.joining(",", "{", "}"));

        assertThat(header.length()).isGreaterThan(1 << 20);
        assertThat(opened(header, tensors).tensors()).hasSize(tensors);
    }

    @Test
    void dataIsReadFromAnOffsetThatNeedNotBeAligned() {
        byte[] header = ("{" + tensor("pad", "U8", "[1]", 0, 1) + "," + tensor("t", "F32", "[2]", 1, 9) + "}")
                .getBytes(StandardCharsets.UTF_8);
        byte[] bytes = RawSafetensors.bytes(header.length, header, 9);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putFloat(bytes.length - 4, 1.5f);
        RawSafetensors.writeBytes(file, bytes);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = SafetensorsFile.open(file).tensors().get("t").read(arena);

            assertThat(data.byteSize()).isEqualTo(8);
            assertThat(data.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4)).isEqualTo(1.5f);
        }
    }

    @Test
    void aFileThatBecameShorterIsRefusedWhenItIsRead() throws IOException {
        StoredTensor tensor =
                opened("{" + tensor("t", "F32", "[2]", 0, 8) + "}", 8).tensors().get("t");
        Files.write(file, new byte[10]);
        try (Arena arena = Arena.ofConfined()) {
            assertThat(Rejection.line(() -> tensor.read(arena)))
                    .isEqualTo(file + " became shorter while it was read: it has 10 bytes, expected at least "
                            + (tensor.offset() + 8));
        }
    }

    /** The process would get a signal if the file were mapped. */
    @Test
    void aFileThatIsCutShortBetweenTwoReadsIsRefused() throws IOException {
        StoredTensor tensor = opened("{" + tensor("t", "U8", "[100000]", 0, 100_000) + "}", 100_000)
                .tensors()
                .get("t");
        try (Arena arena = Arena.ofConfined();
                TensorReader reader = new TensorReader(tensor)) {
            reader.read(0, arena.allocate(50_000));
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(tensor.offset() + 60_000);
            }
            assertThat(Rejection.line(() -> reader.read(50_000, arena.allocate(50_000))))
                    .startsWith(file + " became shorter while it was read: it has " + (tensor.offset() + 60_000));
        }
    }
}
