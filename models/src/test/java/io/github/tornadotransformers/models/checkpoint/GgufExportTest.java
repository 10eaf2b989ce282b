package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Sha256;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.gguf.GgufFile;
import io.github.tornadotransformers.models.gguf.GgufTensor;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.models.llama.LlamaConfig;
import io.github.tornadotransformers.models.mistral.MistralConfig;
import io.github.tornadotransformers.testsupport.FamilyGolden;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A model's GGUF file is llama.cpp's converter's, and the same model is read from it. */
class GgufExportTest {
    @TempDir
    Path folder;

    private Path exported(Checkpoint checkpoint, GgufTensorType type) {
        Path file = folder.resolve("model.gguf");
        try {
            GgufExport.write(file, checkpoint, type, new LinkedHashMap<>());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    /** Made by {@code models/src/test/python/make_gguf_goldens.py}. */
    @TestFactory
    Stream<DynamicTest> isWhatTheConverterWrites() {
        return ModelFamilies.all().stream()
                .map(ModelFamily::modelType)
                .flatMap(family -> FamilyGolden.of(family).stream()
                        .filter(golden -> golden(family).has(golden.name()))
                        .map(golden -> dynamicTest(
                                golden.toString(),
                                () -> isConverted(golden, golden(family).get(golden.name())))));
    }

    private static JsonNode golden(String family) {
        try (InputStream file = GgufExportTest.class.getResourceAsStream("/gguf/" + family + ".json")) {
            return new ObjectMapper().readTree(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void isConverted(FamilyGolden model, JsonNode golden) throws IOException {
        Path folder = Files.createTempDirectory(this.folder, "golden");
        model.write(folder, golden.get("config"));
        Checkpoint checkpoint = Checkpoint.open(folder);
        Path file = exported(checkpoint, GgufTensorType.F32);
        GgufFile gguf = GgufFile.open(file);

        golden.get("keys").properties().forEach(key -> {
            assertThat(gguf.metadata().has(key.getKey())).as(key.getKey()).isTrue();
            if (key.getValue().isNumber()) {
                assertThat(gguf.metadata().number(key.getKey()).orElseThrow().floatValue())
                        .as(key.getKey())
                        .isEqualTo(key.getValue().floatValue());
            }
        });
        Map<String, String> expected = new TreeMap<>();
        golden.get("tensors")
                .properties()
                .forEach(tensor -> expected.put(
                        tensor.getKey(), tensor.getValue().toString().replace(" ", "")));
        Map<String, String> found = new TreeMap<>();
        gguf.tensors().forEach((name, tensor) -> found.put(name, described(tensor)));
        assertThat(found).isEqualTo(expected);

        Checkpoint read = Checkpoint.open(file);
        assertThat(described(read.config())).isEqualTo(described(checkpoint.config()));
        assertSameWeights(read, checkpoint);
    }

    /** The head of a GPT-2 is written again where it is tied. */
    private static void assertSameWeights(Checkpoint read, Checkpoint written) {
        Map<String, List<Float>> weights = LoadedFloats.of(read, DType.F32);
        Map<String, List<Float>> expected = LoadedFloats.of(written, DType.F32);
        if (read.config() instanceof Gpt2Config && !expected.containsKey(ModelFamily.HEAD)) {
            assertThat(weights.remove(ModelFamily.HEAD)).isEqualTo(weights.get("wte.weight"));
        }
        assertThat(weights).isEqualTo(expected);
    }

    /** A Mistral without windows is read as the Llama that it is, and a tied head of a GPT-2 as one of its own. */
    private static String described(ModelConfig config) {
        if (config instanceof Gpt2Config gpt2) {
            return new Gpt2Config(gpt2.sizes(), gpt2.headCount(), gpt2.layerNormEps(), gpt2.scalesAttention(), false)
                    .toString();
        }
        return config instanceof MistralConfig mistral
                ? new LlamaConfig(
                                mistral.sizes(),
                                mistral.heads(),
                                mistral.rope(),
                                mistral.rmsNormEps(),
                                false,
                                false,
                                mistral.tiedHead())
                        .toString()
                : config.toString();
    }

    private static String described(GgufTensor tensor) {
        try {
            byte[] data = Arrays.copyOfRange(
                    Files.readAllBytes(tensor.file()), (int) tensor.offset(), (int) (tensor.offset() + tensor.bytes()));
            String hash = Sha256.of(new ByteArrayInputStream(data));
            String shape = tensor.shape().toString().replace(" ", "");
            return "[\"" + tensor.type() + "\"," + shape + ",\"" + hash + "\"]";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Stream<ModelConfig> examples() {
        return ModelFamilies.all().stream().flatMap(family -> family.examples().stream());
    }

    /** GGUF cannot say everything; what it cannot is refused, and leaves no file. */
    @ParameterizedTest
    @MethodSource("examples")
    void theSameModelIsReadOrTheExportIsRefused(ModelConfig config) {
        Checkpoint checkpoint = TestCheckpoints.write(folder, config, 5, StoredType.F32);
        Path file = folder.resolve("model.gguf");
        try {
            exported(checkpoint, GgufTensorType.F32);
        } catch (InvalidRequest | CheckpointException e) {
            assertThat(e.getMessage()).isNotEmpty();
            assertThat(file).doesNotExist();
            return;
        }
        Checkpoint read = Checkpoint.open(file);
        assertThat(described(read.config())).isEqualTo(described(config));
        assertSameWeights(read, checkpoint);
    }

    @ParameterizedTest
    @EnumSource(
            value = StoredType.class,
            names = {"F16", "BF16"})
    void halvesStayAsTheyAre(StoredType type) {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.llama(), 7, type);
        Checkpoint read = Checkpoint.open(exported(checkpoint, GgufTensorType.valueOf(type.name())));

        assertThat(read.storedDType()).isEqualTo(type.widened());
        assertThat(LoadedFloats.of(read, type.widened())).isEqualTo(LoadedFloats.of(checkpoint, type.widened()));
    }

    @Test
    void aGgufFileIsExportedAsItself() throws IOException {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.llama(), 7, StoredType.F16);
        Path first = exported(checkpoint, GgufTensorType.F16);
        Path second = folder.resolve("again").resolve("model.gguf");
        Files.createDirectory(second.getParent());
        GgufExport.write(second, Checkpoint.open(first), GgufTensorType.F16, new LinkedHashMap<>());

        GgufFile again = GgufFile.open(second);
        GgufFile.open(first)
                .tensors()
                .forEach((name, tensor) -> assertThat(described(again.tensors().get(name)))
                        .as(name)
                        .isEqualTo(described(tensor)));
    }

    @Test
    void aTypeThatIsNotWrittenIsRefused() {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.llama(), 7);
        assertThatThrownBy(() -> exported(checkpoint, GgufTensorType.Q4_K))
                .isInstanceOf(InvalidRequest.class)
                .hasMessageContaining("Q4_K is not written");
    }

    @Test
    void whatIsMissingOrSurplusIsNamedAsTheFileSpellsIt() {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.llama(), 7);
        Path file = exported(checkpoint, GgufTensorType.F32);
        assertThat(Rejection.message(
                        () -> Checkpoint.open(renamed(file, "blk.0.attn_v.weight", "blk.0.attn_x.weight"))))
                .contains("blk.0.attn_x.weight\" (F32 [20, 38]) is surplus", "blk.0.attn_v.weight\" is missing");
    }

    /** The same file, with another text of the same length. */
    private static Path renamed(Path file, String text, String other) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            String latin = new String(bytes, StandardCharsets.ISO_8859_1).replace(text, other);
            return Files.write(file, latin.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void keysThatAreNotImplementedAreNamed() {
        Checkpoint checkpoint = TestCheckpoints.write(folder, TestCheckpoints.gpt2(), 7);
        Path file = exported(checkpoint, GgufTensorType.F32);
        assertThat(Rejection.line(() -> Checkpoint.open(renamed(file, "general.architecture", "general.architectura"))))
                .contains("key \"general.architecture\" is missing");
    }
}
