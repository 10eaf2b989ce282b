package io.github.tornadotransformers.models.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.TestCheckpoints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checkpoint folders, whole and broken, and what the user is told. */
class CheckpointTest {
    private static final long SEED = 3;
    private static final ModelConfig TIED = TestCheckpoints.gpt2();
    private static final ModelConfig UNTIED = TestCheckpoints.llama();

    @TempDir
    Path folder;

    private String rejection() {
        return Rejection.line(() -> Checkpoint.open(folder));
    }

    private void writeText(String file, String text) throws IOException {
        Files.writeString(folder.resolve(file), text);
    }

    /** Writes a checkpoint with other tensors than its config says. */
    private void write(ModelConfig config, List<SafetensorsWriter.Tensor> tensors) throws IOException {
        RandomCheckpoint.write(folder, config, SEED, StoredType.F32);
        SafetensorsWriter.write(folder.resolve("model.safetensors"), Map.of(), tensors);
    }

    private static List<SafetensorsWriter.Tensor> tensors(ModelConfig config) {
        return new ArrayList<>(RandomCheckpoint.tensors(config, SEED, StoredType.F32));
    }

    private static SafetensorsWriter.Tensor zeros(String name, StoredType type, Long... shape) {
        return new SafetensorsWriter.Tensor(name, type, List.of(shape), (first, values, count) -> {});
    }

    private void edit(String file, UnaryOperator<ObjectNode> change) throws IOException {
        ObjectNode json =
                (ObjectNode) new ObjectMapper().readTree(folder.resolve(file).toFile());
        writeText(file, change.apply(json).toString());
    }

    // Folders and files.

    @Test
    void aFolderThatDoesNotExistIsNamed() {
        Path absent = folder.resolve("absent");
        assertThat(Rejection.line(() -> Checkpoint.open(absent))).startsWith(absent + " does not exist");
    }

    @Test
    void aFileInsteadOfAFolderIsNamed() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(Rejection.line(() -> Checkpoint.open(file))).startsWith(file + " is a file, expected the folder");
    }

    @Test
    void aFolderWithoutConfigIsNamed() {
        assertThat(rejection()).startsWith(folder + " has no config.json");
    }

    @Test
    void aConfigThatIsADirectoryIsNamed() throws IOException {
        Files.createDirectory(folder.resolve("config.json"));
        assertThat(rejection()).endsWith("config.json is a directory, expected a file");
    }

    @Test
    void aFolderWithoutWeightsIsNamed() throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        Files.delete(folder.resolve("model.safetensors"));

        assertThat(rejection()).contains("has neither model.safetensors nor model.safetensors.index.json");
    }

    @Test
    void aPathMayHoldSpacesAndAnyLetters() {
        Path odd;
        try {
            odd = folder.resolve("mein Modell ñ 模型");
        } catch (InvalidPathException e) {
            odd = Assumptions.abort("this JVM's locale has no such letters in paths: " + e.getMessage());
        }
        assertThat(TestCheckpoints.write(odd, TIED, SEED).config()).isEqualTo(TIED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "config.json",
                "generation_config.json",
                "model.safetensors.index.json",
                "model-00001-of-00002.safetensors"
            })
    void aGitLfsPointerIsRecognised(String file) throws IOException {
        RandomCheckpoint.writeSharded(folder, TIED, SEED, StoredType.F32, 2);
        writeText(file, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n");

        assertThat(rejection()).contains(folder.resolve(file) + " is a Git LFS pointer", "git lfs pull");
    }

    // JSON.

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"model_type\": \"gpt2\", // the family⏎} | line 1, column 24",
                "{\"model_type\": \"gpt2\",⏎} | line 2, column 1",
                "{\"model_type\": | line 1",
                "{\"model_type\": \"gpt2\"} {} | there is more text after the end",
                "{\"model_type\": \"gpt2\", \"model_type\": \"llama\"} | Duplicate field 'model_type'",
                "{'model_type': 'gpt2'} | line 1, column 2",
                "{\"n_embd\": 007} | line 1",
            })
    void aConfigThatIsNotJsonSaysWhere(String text, String words) throws IOException {
        writeText("config.json", text.replace('⏎', '\n'));
        assertThat(rejection())
                .startsWith(folder.resolve("config.json") + " is not valid JSON")
                .contains(words);
    }

    /** What Jackson says of its own features, constraints and classes is no help to whoever has the file. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\": 1} // x",
                "{\"a\": +1}",
                "{\"a\": .5}",
                "{\"a\": 5.}",
                "{\"a\": 007}",
                "{'a': 1}",
                "{a: 1}",
                "{\"a\": 1,}",
                "[,]",
                "{\"a\": NULL}",
                "{\"a\": \"\\x\"}",
                "{\"a\": \"\t\"}",
                "{\"a\": 1e}",
                "{\"a\": -}",
                "#"
            })
    void noAdviceOfTheLibraryReachesTheUser(String text) throws IOException {
        writeText("config.json", text);
        assertThat(rejection()).doesNotContainPattern("(?i)feature|enable|stream|jackson|parser|`");
    }

    @Test
    void norDoItsConstraints() throws IOException {
        writeText("config.json", "{\"a\": " + "[".repeat(2000));
        assertThat(rejection()).contains("nesting depth").doesNotContain("Stream");
        writeText("config.json", "{\"a\": " + "1".repeat(2000) + "}");
        assertThat(rejection()).doesNotContain("Stream");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NaN", "Infinity", "-Infinity", "[0.0, Infinity]", "{\"x\": NaN}"})
    void whatIsNoNumberDoesNoHarmInAFieldThatNobodyReads(String value) throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        edit("config.json", json -> json.putRawValue("time_step_limit", new RawValue(value)));

        assertThat(Checkpoint.open(folder).config()).isEqualTo(TIED);
    }

    @ParameterizedTest
    @CsvSource({
        "n_embd, NaN, expected a whole number",
        "n_embd, Infinity, expected a whole number",
        "eos_token_id, NaN, expected a whole number",
        "layer_norm_epsilon, -Infinity, expected a small number of at least 0",
        "layer_norm_epsilon, NaN, expected a small number of at least 0"
    })
    void whatIsNoNumberIsRefusedInAFieldThatIsRead(String field, String value, String words) throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        edit("config.json", json -> json.putRawValue(field, new RawValue(value)));

        assertThat(rejection()).contains("config.json: " + field + " is " + value + ", " + words);
    }

    @ParameterizedTest
    @CsvSource({"[1], a JSON array", "7, a JSON number", "'', empty", "null, a JSON null"})
    void aConfigThatIsNotAnObjectSaysWhatItIs(String text, String words) throws IOException {
        writeText("config.json", text);
        assertThat(rejection()).contains("config.json is " + words + ", expected a JSON object");
    }

    @Test
    void deeplyNestedJsonIsRefused() throws IOException {
        writeText("config.json", "[".repeat(100_000));
        assertThat(rejection()).contains("config.json is not valid JSON");
    }

    @ParameterizedTest
    @CsvSource({
        "'{\"model_type\":\"mistral3\"}', 'model_type is \"mistral3\", which is not implemented; implemented: gemma2, '",
        "'{}', 'model_type is missing, expected one of gemma2, '",
        "'{\"model_type\":7}', 'model_type is 7, expected a text'"
    })
    void anUnknownFamilyIsRefusedWithThoseThatAreKnown(String config, String words) throws IOException {
        writeText("config.json", config);
        assertThat(rejection()).contains(words);
    }

    @Test
    void everyFamilyIsNamed() {
        assertThat(ModelFamilies.supported())
                .isEqualTo("gemma2, gemma3_text, gpt2, granite, llama, mistral, olmo2, phi3, qwen2, qwen3, smollm3");
    }

    // Shards.

    @Test
    void absentShardsAreListed() throws IOException {
        RandomCheckpoint.writeSharded(folder, UNTIED, SEED, StoredType.F32, 3);
        Files.delete(folder.resolve("model-00001-of-00003.safetensors"));
        Files.delete(folder.resolve("model-00003-of-00003.safetensors"));

        assertThat(rejection())
                .contains(
                        "not in its folder: \"model-00001-of-00003.safetensors\", \"model-00003-of-00003.safetensors\"");
    }

    @Test
    void aTensorThatItsShardLacksIsNamed() throws IOException {
        RandomCheckpoint.writeSharded(folder, UNTIED, SEED, StoredType.F32, 2);
        edit(ShardIndex.FILE_NAME, index -> {
            ((ObjectNode) index.get("weight_map")).put("model.norm.weight", "model-00001-of-00002.safetensors");
            return index;
        });

        assertThat(rejection()).contains("model-00001-of-00002.safetensors lacks tensors", "\"model.norm.weight\"");
    }

    @Test
    void aShardThatNobodyNamesIsIgnored() throws IOException {
        RandomCheckpoint.writeSharded(folder, UNTIED, SEED, StoredType.F32, 2);
        writeText("model-00003-of-00002.safetensors", "not even a safetensors file");

        assertThat(Checkpoint.open(folder).config()).isEqualTo(UNTIED);
    }

    @Test
    void theSameTensorInTwoShardsIsNamed() throws IOException {
        RandomCheckpoint.writeSharded(folder, TIED, SEED, StoredType.F32, 2);
        Path second = folder.resolve("model-00002-of-00002.safetensors");
        List<SafetensorsWriter.Tensor> both = new ArrayList<>();
        SafetensorsFile.open(second)
                .tensors()
                .values()
                .forEach(tensor -> both.add(
                        zeros(tensor.name(), StoredType.F32, tensor.shape().toArray(Long[]::new))));
        both.add(zeros("transformer.wte.weight", StoredType.F32, 131L, 21L));
        SafetensorsWriter.write(second, Map.of(), both);

        assertThat(rejection())
                .contains("tensor \"transformer.wte.weight\" is there twice", "model-00001-of-", "model-00002-of-");
    }

    @Test
    void theIndexWinsOverASingleFile() throws IOException {
        RandomCheckpoint.writeSharded(folder, UNTIED, SEED, StoredType.F32, 2);
        writeText("model.safetensors", "not even a safetensors file");

        assertThat(Checkpoint.open(folder).config()).isEqualTo(UNTIED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/etc/passwd", "../x.safetensors", "sub/../../x.safetensors", "", "a\0b"})
    void aShardOutsideTheFolderIsRefused(String shard) throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        nameInIndex(shard);

        assertThat(rejection())
                .startsWith(folder.resolve(ShardIndex.FILE_NAME) + " names the shard ")
                .endsWith("expected a file within the checkpoint's folder");
    }

    @Test
    void aLinkMayLeadOutOfTheFolder() throws IOException {
        Path inside = folder.resolve("inside");
        TestCheckpoints.write(inside, TIED, SEED);
        Path outside = Files.move(inside.resolve("model.safetensors"), folder.resolve("outside.safetensors"));
        Files.createSymbolicLink(inside.resolve("x.safetensors"), outside);
        folder = inside;
        nameInIndex("x.safetensors");

        assertThat(Checkpoint.open(inside).config()).isEqualTo(TIED);
    }

    @Test
    void aWholeFolderOfLinksLoads() throws IOException {
        Path elsewhere = folder.resolve("elsewhere");
        RandomCheckpoint.writeSharded(elsewhere, UNTIED, SEED, StoredType.F32, 3);
        Path links = Files.createDirectory(folder.resolve("links"));
        try (var files = Files.list(elsewhere)) {
            for (Path file : files.toList()) {
                Files.createSymbolicLink(links.resolve(file.getFileName()), file);
            }
        }
        Path linked = Files.createSymbolicLink(folder.resolve("linked"), links);

        assertThat(LoadedFloats.of(Checkpoint.open(linked), DType.F32))
                .isEqualTo(LoadedFloats.of(Checkpoint.open(elsewhere), DType.F32));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "config.json",
                "generation_config.json",
                "model.safetensors.index.json",
                "model-00002-of-00002.safetensors"
            })
    void aLinkToNothingIsNamedWithItsTarget(String file) throws IOException {
        RandomCheckpoint.writeSharded(folder, TIED, SEED, StoredType.F32, 2);
        Path link = folder.resolve(file);
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, Path.of("../../blobs/gone"));

        assertThat(rejection()).isEqualTo(link + " is a link to ../../blobs/gone, which does not exist");
    }

    @Test
    void aFolderOrSingleFileThatIsALinkToNothingIsNamed() throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        Path weights = folder.resolve("model.safetensors");
        Files.delete(weights);
        Files.createSymbolicLink(weights, Path.of("gone"));
        Path linked = Files.createSymbolicLink(folder.resolve("linked"), Path.of("nowhere"));

        assertThat(rejection()).isEqualTo(weights + " is a link to gone, which does not exist");
        assertThat(Rejection.line(() -> Checkpoint.open(linked)))
                .isEqualTo(linked + " is a link to nowhere, which does not exist");
    }

    @Test
    void aLinkIntoTheBlobsOfHuggingFacesCacheIsFollowed() throws IOException {
        Path snapshot = folder.resolve("models--x/snapshots/0123abcd");
        TestCheckpoints.write(snapshot, TIED, SEED);
        Path blobs = Files.createDirectories(folder.resolve("models--x/blobs"));
        Files.move(snapshot.resolve("model.safetensors"), blobs.resolve("cafe"));
        Files.createSymbolicLink(snapshot.resolve("x.safetensors"), Path.of("../../blobs/cafe"));
        folder = snapshot;
        nameInIndex("x.safetensors");

        assertThat(Checkpoint.open(snapshot).config()).isEqualTo(TIED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"weight_map\":{}}", "{\"weight_map\":[]}", "{\"weight_map\":null}"})
    void anIndexWithoutWeightMapIsRefused(String index) throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        writeText(ShardIndex.FILE_NAME, index);

        assertThat(rejection()).contains("model.safetensors.index.json: expected weight_map");
    }

    @Test
    void anIndexWhoseShardIsNoTextIsRefused() throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        writeText(ShardIndex.FILE_NAME, "{\"weight_map\":{\"wte.weight\":7}}");

        assertThat(rejection()).contains("the shard of tensor \"wte.weight\" is 7, expected a file name");
    }

    private void nameInIndex(String shard) throws IOException {
        ObjectNode index = new ObjectMapper().createObjectNode();
        index.putObject("weight_map").put("transformer.wte.weight", shard);
        writeText(ShardIndex.FILE_NAME, index.toString());
    }

    // Tensors.

    @Test
    void namesMayLackTheFamilysPrefix() throws IOException {
        Map<String, List<Float>> prefixed = LoadedFloats.of(TestCheckpoints.write(folder, TIED, SEED), DType.F32);
        write(TIED, tensors(TIED));

        assertThat(LoadedFloats.of(Checkpoint.open(folder), DType.F32)).isEqualTo(prefixed);
    }

    @Test
    void aTensorWithAndWithoutPrefixIsThereTwice() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(TIED);
        tensors.add(zeros("transformer.wte.weight", StoredType.F32, 131L, 21L));
        write(TIED, tensors);

        assertThat(rejection()).contains("is there twice", "\"wte.weight\"", "\"transformer.wte.weight\"");
    }

    @Test
    void gpt2sBuffersAreIgnoredInSilence() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(TIED);
        tensors.add(zeros("h.0.attn.bias", StoredType.F32, 1L, 1L, 37L, 37L));
        tensors.add(zeros("h.0.attn.masked_bias", StoredType.F32));
        write(TIED, tensors);

        assertThat(Checkpoint.open(folder).notices()).isEmpty();
    }

    @Test
    void llamasRotaryFrequenciesAreIgnoredInSilence() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(UNTIED);
        tensors.add(zeros("layers.0.self_attn.rotary_emb.inv_freq", StoredType.F32, 5L));
        write(UNTIED, tensors);

        assertThat(Checkpoint.open(folder).notices()).isEmpty();
    }

    @Test
    void aTiedCheckpointMayHoldTheHeadToo() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(TIED);
        tensors.add(zeros("lm_head.weight", StoredType.F32, 131L, 21L));
        write(TIED, tensors);

        assertThat(LoadedFloats.of(Checkpoint.open(folder), DType.F32)).doesNotContainKey("lm_head.weight");
    }

    /** As safetensors' save_model writes tensors that share memory. */
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama"})
    void aTiedCheckpointMayHoldTheHeadAlone(String family) throws IOException {
        ModelConfig config = family.equals("gpt2") ? TIED : TestCheckpoints.biasedLlama();
        String embedding = family.equals("gpt2") ? "wte.weight" : "embed_tokens.weight";
        Map<String, List<Float>> expected = LoadedFloats.of(TestCheckpoints.write(folder, config, SEED), DType.F32);
        write(config, renamed(tensors(config), name -> name.equals(embedding) ? "lm_head.weight" : name));
        Checkpoint checkpoint = Checkpoint.open(folder);

        assertThat(LoadedFloats.of(checkpoint, DType.F32)).isEqualTo(expected);
        assertThat(checkpoint.notices()).isEmpty();
    }

    @Test
    void aHeadOfTheWrongShapeDoesNotServeAsEmbedding() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(TIED);
        tensors.removeIf(tensor -> tensor.name().equals("wte.weight"));
        tensors.add(zeros("lm_head.weight", StoredType.F32, 21L, 131L));
        write(TIED, tensors);

        assertThat(rejection()).endsWith("tensor \"lm_head.weight\" has shape [21, 131], expected [131, 21]");
    }

    @Test
    void anUntiedCheckpointNeedsItsEmbedding() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(UNTIED);
        tensors.removeIf(tensor -> tensor.name().equals("embed_tokens.weight"));
        write(UNTIED, tensors);

        assertThat(rejection()).endsWith("tensor \"embed_tokens.weight\" is missing, expected shape [139, 38]");
    }

    @ParameterizedTest
    @CsvSource({
        "_orig_mod., model.",
        "module., model.",
        "base_model.model., model.",
        "module._orig_mod., model.",
        "model., model.",
        "module., ''",
        "llama., ''"
    })
    void aWrappersPrefixIsNamed(String wrapper, String prefix) throws IOException {
        write(UNTIED, renamed(tensors(UNTIED), name -> wrapper + (name.startsWith("lm_head") ? "" : prefix) + name));

        assertThat(rejection())
                .isEqualTo(folder + ": the names of the tensors begin with \"" + wrapper
                        + "\", which a wrapper around the model has put there: save the model inside the wrapper, or"
                        + " rename the tensors");
    }

    private static List<SafetensorsWriter.Tensor> renamed(
            List<SafetensorsWriter.Tensor> tensors, UnaryOperator<String> name) {
        return tensors.stream()
                .map(each ->
                        new SafetensorsWriter.Tensor(name.apply(each.name()), each.type(), each.shape(), each.data()))
                .toList();
    }

    @Test
    void anUntiedCheckpointWithoutHeadIsRefused() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(UNTIED);
        tensors.removeIf(tensor -> tensor.name().equals("lm_head.weight"));
        write(UNTIED, tensors);

        assertThat(rejection()).endsWith(": tensor \"lm_head.weight\" is missing, expected shape [139, 38]");
    }

    @Test
    void missingSurplusAndMisshapenTensorsAreListedAtOnce() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(TIED);
        tensors.removeIf(
                tensor -> tensor.name().equals("ln_f.weight") || tensor.name().equals("wpe.weight"));
        tensors.add(zeros("h.3.ln_1.weight", StoredType.F32, 21L));
        tensors.add(zeros("wpe.weight", StoredType.F32, 21L, 37L));
        write(TIED, tensors);

        assertThat(Rejection.message(() -> Checkpoint.open(folder)).lines())
                .containsExactlyInAnyOrder(
                        folder + ": 3 tensors do not fit config.json:",
                        "  tensor \"ln_f.weight\" is missing, expected shape [21]",
                        "  tensor \"wpe.weight\" has shape [21, 37], expected [37, 21]",
                        "  tensor \"h.3.ln_1.weight\" (F32 [21]) is surplus: the model of config.json has none of that"
                                + " name");
    }

    @Test
    void aLongListIsCutOffWithItsCount() throws IOException {
        write(TIED, List.of(zeros("ln_f.weight", StoredType.F32, 21L)));

        assertThat(Rejection.message(() -> Checkpoint.open(folder)).lines())
                .hasSize(22)
                .first()
                .isEqualTo(folder + ": 39 tensors do not fit config.json:");
        assertThat(Rejection.message(() -> Checkpoint.open(folder))).endsWith("\n  and 19 more");
    }

    @ParameterizedTest
    @CsvSource({"I64, 8", "XYZ, 3", "U8, 1", "F8_E4M3, 1"})
    void aWeightOfATypeThatNoWeightHasIsRefused(String dtype, int bytes) throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        int end = 21 * bytes;
        RawSafetensors.write(
                folder.resolve("model.safetensors"),
                "{" + RawSafetensors.tensor("ln_f.bias", dtype, "[21]", 0, end) + "}",
                end);

        assertThat(Rejection.message(() -> Checkpoint.open(folder)))
                .contains("tensor \"ln_f.bias\" has type \"" + dtype + "\", expected one of F64, F32, F16, BF16");
    }

    @ParameterizedTest
    @CsvSource({"counts.weight, I64, 8", "mystery.bias, XYZ, 5", "a.buffer, F32, 4"})
    void anUnusedTensorThatIsNoWeightIsIgnoredWithANotice(String name, String dtype, int bytes) throws IOException {
        RandomCheckpoint.writeSharded(folder, TIED, SEED, StoredType.F32, 2);
        RawSafetensors.write(
                folder.resolve("extra.safetensors"),
                "{" + RawSafetensors.tensor(name, dtype, "[1]", 0, bytes) + "}",
                bytes);
        edit(ShardIndex.FILE_NAME, index -> {
            ((ObjectNode) index.get("weight_map")).put(name, "extra.safetensors");
            return index;
        });

        assertThat(Checkpoint.open(folder).notices())
                .containsExactly("ignored, as they are no weights: \"" + name + "\" (" + dtype + " [1])");
    }

    @Test
    void emptyTensorsAndScalarsThatAreNotUsedAreIgnored() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = tensors(TIED);
        tensors.add(zeros("empty.weight", StoredType.F32, 2L, 0L));
        tensors.add(zeros("scalar", StoredType.F32));
        write(TIED, tensors);

        assertThat(Checkpoint.open(folder).notices())
                .containsExactly("ignored, as they are no weights: \"empty.weight\" (F32 [2, 0]), \"scalar\" (F32 [])");
    }

    // Types.

    @ParameterizedTest
    @CsvSource({"F32, F32", "F16, F16", "BF16, BF16", "F64, F32"})
    void theStoredTypeIsThatOfTheMatrices(StoredType stored, DType expected) {
        assertThat(TestCheckpoints.write(folder, TIED, SEED, stored).storedDType())
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"BF16, F16, F32", "BF16, F32, F32", "F16, F16, F16"})
    void ofMixedMatricesItIsTheOneThatHoldsAll(StoredType one, StoredType other, DType expected) throws IOException {
        List<SafetensorsWriter.Tensor> tensors = new ArrayList<>(RandomCheckpoint.tensors(TIED, SEED, one));
        tensors.removeIf(tensor -> tensor.name().equals("wte.weight"));
        tensors.add(zeros("wte.weight", other, 131L, 21L));
        write(TIED, tensors);

        assertThat(Checkpoint.open(folder).storedDType()).isEqualTo(expected);
    }

    @Test
    void normsOfAnotherTypeDoNotMatter() throws IOException {
        List<SafetensorsWriter.Tensor> tensors = new ArrayList<>(RandomCheckpoint.tensors(TIED, SEED, StoredType.BF16));
        tensors.removeIf(tensor -> tensor.name().equals("ln_f.weight"));
        tensors.add(zeros("ln_f.weight", StoredType.F32, 21L));
        write(TIED, tensors);

        assertThat(Checkpoint.open(folder).storedDType()).isEqualTo(DType.BF16);
    }

    @Test
    void narrowingF64IsANotice() {
        assertThat(TestCheckpoints.write(folder, TIED, SEED, StoredType.F64).notices())
                .containsExactly("the checkpoint's F64 weights are narrowed to float32");
    }

    @ParameterizedTest
    @CsvSource({
        "F32, F32, false",
        "F32, BF16, true",
        "F32, F16, true",
        "F32, INT8, true",
        "BF16, BF16, false",
        "BF16, F32, false",
        "BF16, F16, true",
        "F16, F16, false",
        "F16, BF16, true"
    })
    void roundingToTheChosenTypeIsANotice(StoredType stored, DType chosen, boolean rounds) {
        List<String> notices = TestCheckpoints.write(folder, TIED, SEED, stored).notices(chosen);

        assertThat(notices)
                .isEqualTo(
                        rounds
                                ? List.of("the checkpoint's " + stored + " weights are rounded to " + chosen)
                                : List.of());
    }

    // Tokens that begin and end a text.

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "2 | - | 2",
                "[2, 7] | - | 2,7",
                "null | - | -",
                "- | - | -",
                "[] | - | -",
                "2 | 5 | 5",
                "2 | [5, 6] | 5,6",
                "- | 5 | 5",
                "2 | null | -",
                "-1 | - | -",
                "[2, -1, 7] | - | 2,7",
                "2 | -1 | -",
                "2 | [-1] | -",
                "-1.0 | - | -",
            })
    void endTokensAreTheGenerationConfigsOrElseTheConfigs(String config, String generation, String expected)
            throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        if (config != null) {
            edit("config.json", json -> json.putRawValue("eos_token_id", new RawValue(config)));
        }
        writeText("generation_config.json", generation == null ? "{}" : "{\"eos_token_id\":" + generation + "}");

        List<Integer> ids = expected == null
                ? List.of()
                : List.of(expected.split(",")).stream().map(Integer::valueOf).toList();
        assertThat(Checkpoint.open(folder).endTokens()).isEqualTo(ids);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"2\"", "-2", "[2, -2]", "\"-1\"", "[2, \"7\"]", "[[2]]", "1.5", "99999999999", "true"})
    void anEndTokenThatIsNoIdIsRefused(String ids) throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        writeText("generation_config.json", "{\"eos_token_id\":" + ids + "}");

        assertThat(rejection()).contains("generation_config.json: eos_token_id is ", "expected a whole number from 0");
    }

    @Test
    void theFirstTokenIsTheGenerationConfigsOrElseTheConfigs() throws IOException {
        TestCheckpoints.write(folder, TIED, SEED);
        assertThat(Checkpoint.open(folder).bosToken()).isEmpty();
        edit("config.json", json -> json.put("bos_token_id", 4));
        assertThat(Checkpoint.open(folder).bosToken()).hasValue(4);
        writeText("generation_config.json", "{\"bos_token_id\":9}");
        assertThat(Checkpoint.open(folder).bosToken()).hasValue(9);
        writeText("generation_config.json", "{\"bos_token_id\":-1, \"pad_token_id\":-1}");
        assertThat(Checkpoint.open(folder).bosToken()).isEmpty();
    }
}
