package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.tornadotransformers.models.Heads;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.models.rope.Rope;
import io.github.tornadotransformers.models.rope.RopeScaling;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class WeightPackTest {
    private static final long SEED = 20_261_130;

    @TempDir
    private Path folder;

    private final List<String> notices = new ArrayList<>();

    static Stream<ModelConfig> examples() {
        return ModelFamilies.all().stream().map(ModelFamily::examples).map(List::getFirst);
    }

    private Checkpoint write(ModelConfig config, long seed) {
        return TestCheckpoints.write(folder.resolve("model"), config, seed);
    }

    private WeightPack pack(Checkpoint checkpoint, DType dtype) {
        Program program = checkpoint.config().program(8);
        return WeightPack.in(folder.resolve("packs"), checkpoint, program, dtype, WeightLayout.PANELS);
    }

    private static List<byte[]> bytes(Program program, Weights weights) {
        List<byte[]> bytes = new ArrayList<>();
        for (Weight weight : program.weights()) {
            for (int layer = 0; weights.isStored(weight) && layer < weight.layers(); layer++) {
                weights.columns(weight, layer).forEach(columns -> bytes.add(bytes(columns)));
            }
            if (weights.isStored(weight)) {
                continue;
            }
            WeightData data = weights.get(weight);
            Stream.concat(data.elements().stream(), data.scales().stream())
                    .forEach(segment -> bytes.add(segment.toArray(ValueLayout.JAVA_BYTE)));
        }
        return bytes;
    }

    private static byte[] bytes(StoredColumns columns) {
        return switch (columns) {
            case StoredColumns.Plain plain -> plain.data().layer(0).toArray(ValueLayout.JAVA_BYTE);
            case StoredColumns.Blocks blocks -> blocks.data().data().toArray(ValueLayout.JAVA_BYTE);
            case StoredColumns.Words _ -> throw new IllegalArgumentException("a device's");
        };
    }

    private List<byte[]> load(Checkpoint checkpoint, DType dtype) {
        try (Arena arena = Arena.ofShared()) {
            return bytes(checkpoint.config().program(8), pack(checkpoint, dtype).load(arena, notices::add));
        }
    }

    private static List<byte[]> loadWithout(Checkpoint checkpoint, DType dtype) {
        Program program = checkpoint.config().program(8);
        try (Arena arena = Arena.ofShared()) {
            return bytes(program, checkpoint.load(program, dtype, new ArenaAllocator(arena, WeightLayout.PANELS)));
        }
    }

    private static void assertSame(List<byte[]> found, List<byte[]> expected) {
        assertThat(found).hasSameSizeAs(expected);
        for (int i = 0; i < found.size(); i++) {
            assertThat(found.get(i)).as("allocation %d", i).isEqualTo(expected.get(i));
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void whatIsMappedIsWhatWouldBeLoaded(ModelConfig config) {
        Checkpoint checkpoint = write(config, SEED);
        for (DType dtype : DType.OF_MATRICES) {
            List<byte[]> expected = loadWithout(checkpoint, dtype);
            assertSame(load(checkpoint, dtype), expected);
            assertThat(pack(checkpoint, dtype).file()).isRegularFile();
            assertSame(load(checkpoint, dtype), expected);
        }
        assertThat(notices).isEmpty();
    }

    /** Tensors that are kept as they are stored: blocks, and, where rows are no whole blocks, numbers. */
    @Test
    void blocksArePackedToo() throws IOException {
        Rope rope = new Rope(10_000, 32, new RopeScaling.None());
        Sizes sizes = new Sizes(97, 64, 64, 80, 2); // 80 inputs are no whole blocks
        Checkpoint floats = write(new LlamaConfig(sizes, new Heads(2, 1, 32), rope, 1e-5f, true, false, true), SEED);
        Path file = folder.resolve("model.gguf");
        GgufExport.write(file, floats, GgufTensorType.Q4_0, new LinkedHashMap<>());
        Checkpoint checkpoint = Checkpoint.open(file);
        List<byte[]> expected = loadWithout(checkpoint, DType.STORED);
        assertSame(load(checkpoint, DType.STORED), expected);
        assertThat(pack(checkpoint, DType.STORED).file()).isRegularFile();
        assertSame(load(checkpoint, DType.STORED), expected);
        assertThat(notices).isEmpty();
    }

    @Test
    void theSecondLoadReadsThePackAlone() throws IOException {
        Checkpoint checkpoint = write(TestCheckpoints.llama(), SEED);
        List<byte[]> first = load(checkpoint, DType.BF16);
        FileTime packed = Files.getLastModifiedTime(pack(checkpoint, DType.BF16).file());
        assertSame(load(checkpoint, DType.BF16), first);
        assertThat(Files.getLastModifiedTime(pack(checkpoint, DType.BF16).file()))
                .isEqualTo(packed);
    }

    @Test
    void mappedWeightsAreAlignedAndCannotBeWritten() {
        Checkpoint checkpoint = write(TestCheckpoints.llama(), SEED);
        load(checkpoint, DType.INT8);
        try (Arena arena = Arena.ofShared()) {
            Weights weights = pack(checkpoint, DType.INT8).load(arena, notices::add);
            for (Weight weight : checkpoint.config().program(8).weights()) {
                MemorySegment elements = weights.get(weight).elements().getFirst();
                assertThat(elements.address() % WeightAllocator.ALIGNMENT).isZero();
                assertThat(elements.isReadOnly()).isTrue();
            }
        }
    }

    @Test
    void anotherStateOfTheCheckpointIsNoticed() {
        load(write(TestCheckpoints.llama(), SEED), DType.F32);
        Checkpoint changed = write(TestCheckpoints.llama(), SEED + 1);
        assertSame(load(changed, DType.F32), loadWithout(changed, DType.F32));
        assertThat(notices)
                .singleElement()
                .asString()
                .endsWith("-F32-PANELS.pack is of another state of the checkpoint: it is made again");
        assertSame(load(changed, DType.F32), loadWithout(changed, DType.F32));
        assertThat(notices).hasSize(1);
    }

    /** Its size is as before, and its time of change has been set back. */
    @Test
    void aChangeThatHidesItsTimeIsNoticed() throws IOException {
        load(write(TestCheckpoints.llama(), SEED), DType.F32);
        Path file = folder.resolve("model/model.safetensors");
        FileTime before = Files.getLastModifiedTime(file);
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] ^= 1;
        Files.write(file, bytes);
        Files.setLastModifiedTime(file, before);
        Checkpoint changed = Checkpoint.open(folder.resolve("model"));
        assertSame(load(changed, DType.F32), loadWithout(changed, DType.F32));
        assertThat(notices).hasSize(1);
    }

    /** Any byte that is not padding. */
    @ParameterizedTest
    @EnumSource(value = DType.class, mode = EnumSource.Mode.EXCLUDE, names = "STORED")
    void damageIsNoticedWhereverItIs(DType dtype) throws IOException {
        Checkpoint checkpoint = write(TestCheckpoints.biasedLlama(), SEED);
        List<byte[]> expected = load(checkpoint, dtype);
        Path file = pack(checkpoint, dtype).file();
        byte[] sound = Files.readAllBytes(file);
        Random random = new Random(SEED);
        int[] places = {0, 7, 8, 39, 40, 44, sound.length - 1, sound.length - 1 - random.nextInt(64)};
        for (int place : places) {
            byte[] damaged = sound.clone();
            damaged[place] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, damaged);
            assertSame(load(checkpoint, dtype), expected);
            assertThat(Files.readAllBytes(file)).isEqualTo(sound);
        }
        assertThat(notices).hasSize(places.length).allMatch(notice -> notice.endsWith(": it is made again"));
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "39", "100", "-1", "-100000"})
    void aPackOfAnotherLengthIsNoticed(int bytes) throws IOException {
        Checkpoint checkpoint = write(TestCheckpoints.llama(), SEED);
        List<byte[]> expected = load(checkpoint, DType.F32);
        Path file = pack(checkpoint, DType.F32).file();
        byte[] sound = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(sound, bytes < 0 ? sound.length - bytes : bytes));
        assertSame(load(checkpoint, DType.F32), expected);
        assertThat(notices).singleElement().asString().contains(" bytes, expected " + sound.length + " for this");
        assertThat(Files.readAllBytes(file)).isEqualTo(sound);
    }

    @Test
    void aPackThatCannotBeWrittenEndsNothing() throws IOException {
        Files.writeString(folder.resolve("packs"), "in the way");
        Checkpoint checkpoint = write(TestCheckpoints.llama(), SEED);
        assertSame(load(checkpoint, DType.F32), loadWithout(checkpoint, DType.F32));
        assertThat(notices).singleElement().asString().contains("cannot be written, and nothing was packed: ");
    }

    @Test
    void aValueThatDoesNotFitIsRefusedAndLeavesNoPack() throws IOException {
        RandomCheckpoint.write(folder.resolve("model"), TestCheckpoints.llama(), SEED, StoredType.F32);
        Path file = folder.resolve("model/model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        for (int i = bytes.length / 2; i < bytes.length; i++) {
            bytes[i] = 0x7F; // 3.4e38 of every float
        }
        Files.write(file, bytes);
        Checkpoint checkpoint = Checkpoint.open(folder.resolve("model"));
        assertThatThrownBy(() -> load(checkpoint, DType.F16)).hasMessageContaining("are too large for F16");
        assertThat(folder.resolve("packs")).doesNotExist();
    }

    /**
     * Packs outlive the program that has made them. Where this fails because weights lie otherwise in memory than they did, raise
     * {@code PackKey.LOADED_FORM} with the hashes.
     */
    @ParameterizedTest
    @CsvSource({"F32, cc647f71aeecfb16", "BF16, 1c298320d8974415", "F16, b616c8a5ab5a8c89", "INT8, 3514a88532323929"})
    void theLoadedFormIsWhatPacksOfItsNumberHold(DType dtype, String hash) throws IOException {
        Checkpoint checkpoint = write(TestCheckpoints.biasedLlama(), SEED);
        byte[] all = {};
        for (byte[] bytes : load(checkpoint, dtype)) {
            int from = all.length;
            all = Arrays.copyOf(all, from + bytes.length);
            System.arraycopy(bytes, 0, all, from, bytes.length);
        }
        assertThat(Sha256.of(new ByteArrayInputStream(all)).substring(0, 16)).isEqualTo(hash);
    }
}
