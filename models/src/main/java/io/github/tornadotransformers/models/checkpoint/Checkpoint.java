package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.program.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A checkpoint folder in Hugging Face's layout, opened and checked: its config, its end tokens, and where its tensors are.
 * Tensor data is read by {@link WeightLoader}. Where {@code model.safetensors.index.json} and {@code model.safetensors} are
 * both there, the index wins.
 */
public final class Checkpoint implements ModelSource {
    static final String CONFIG = "config.json";
    static final String SINGLE_FILE = "model.safetensors";

    private static final String GENERATION_CONFIG = "generation_config.json";
    static final String END_TOKENS = "eos_token_id";
    static final String BOS_TOKEN = "bos_token_id";

    private final Path folder;
    private final ModelConfig config;
    private final List<Integer> endTokens;
    private final OptionalInt bosToken;
    private final TensorIndex tensors;
    private final TensorCheck check;

    private Checkpoint(
            Path folder,
            ModelConfig config,
            List<Integer> endTokens,
            OptionalInt bosToken,
            TensorIndex tensors,
            TensorCheck check) {
        this.folder = folder;
        this.config = config;
        this.endTokens = endTokens;
        this.bosToken = bosToken;
        this.tensors = tensors;
        this.check = check;
    }

    /**
     * Reads the config and the headers of the weight files, and checks that the tensors are those of the config's program.
     *
     * @throws CheckpointException if anything is missing, broken, or asks for what is not implemented
     */
    public static Checkpoint open(Path folder) {
        requireFolder(folder);
        Path configFile = folder.resolve(CONFIG);
        if (!CheckpointFiles.isThere(configFile)) {
            throw new CheckpointException(
                    Quoted.path(folder) + " has no " + CONFIG + ", expected a checkpoint in Hugging Face's layout");
        }
        ConfigReader configReader = new ConfigReader(configFile, CheckpointFiles.readJson(configFile));
        ModelFamily<?> family = ModelFamilies.named(configReader);
        ModelConfig config = family.parse(configReader);
        Optional<ConfigReader> generation = generationConfig(folder);
        List<Integer> endTokens = saying(END_TOKENS, generation, configReader).tokenIds(END_TOKENS);
        OptionalInt bosToken = saying(BOS_TOKEN, generation, configReader).tokenId(BOS_TOKEN);
        Program program = config.program(1);
        TensorIndex tensors = TensorIndex.of(family, openWeights(folder)).withTiedHead(program);
        TensorCheck check = TensorCheck.of(folder, tensors, program);
        return new Checkpoint(folder, config, endTokens, bosToken, tensors, check);
    }

    /**
     * The model that a {@code config.json} describes, without weights.
     *
     * @throws CheckpointException if the file cannot be read, or asks for what is not implemented
     */
    public static ModelConfig readConfig(Path file) {
        ConfigReader reader = new ConfigReader(file, CheckpointFiles.readJson(file));
        return ModelFamilies.named(reader).parse(reader);
    }

    private static void requireFolder(Path folder) {
        CheckpointFiles.requireTarget(folder);
        if (Files.notExists(folder)) {
            throw new CheckpointException(Quoted.path(folder) + " does not exist, expected a folder with a checkpoint");
        }
        if (!Files.isDirectory(folder)) {
            throw new CheckpointException(
                    Quoted.path(folder) + " is a file, expected the folder of a checkpoint (with " + CONFIG + ")");
        }
    }

    private static Optional<ConfigReader> generationConfig(Path folder) {
        Path file = folder.resolve(GENERATION_CONFIG);
        if (!CheckpointFiles.isThere(file)) {
            return Optional.empty();
        }
        ObjectNode json = CheckpointFiles.readJson(file);
        return Optional.of(new ConfigReader(file, json));
    }

    /** The generation config where it has the field, be it null; the model's otherwise. */
    private static ConfigReader saying(String field, Optional<ConfigReader> generation, ConfigReader config) {
        return generation.filter(reader -> reader.mentions(field)).orElse(config);
    }

    private static List<SafetensorsFile> openWeights(Path folder) {
        Path index = folder.resolve(ShardIndex.FILE_NAME);
        if (CheckpointFiles.isThere(index)) {
            return ShardIndex.read(index).openShards();
        }
        Path single = folder.resolve(SINGLE_FILE);
        if (!CheckpointFiles.isThere(single)) {
            throw new CheckpointException(Quoted.path(folder) + " has neither " + SINGLE_FILE + " nor "
                    + ShardIndex.FILE_NAME + "; other formats of weights are not read");
        }
        return List.of(SafetensorsFile.open(single));
    }

    public Path folder() {
        return folder;
    }

    @Override
    public ModelConfig config() {
        return config;
    }

    /** Ids that end a text: {@code generation_config.json}'s if it has the field, else {@code config.json}'s; may be empty. */
    public List<Integer> endTokens() {
        return endTokens;
    }

    /** The id that begins a text, from the same files as the end tokens. */
    public OptionalInt bosToken() {
        return bosToken;
    }

    /** The smallest type in memory that keeps every matrix as it is stored; {@code F32} for F64, which is narrowed. */
    @Override
    public DType storedDType() {
        return check.storedDType();
    }

    /** What the user should be told once, a line each; usually nothing. */
    public List<String> notices() {
        return check.notices();
    }

    @Override
    public Weights load(Program program, DType dtype, WeightAllocator allocator) {
        return WeightLoader.load(this, program, dtype, allocator);
    }

    /** As {@link #notices()}, and whether keeping the matrices in {@code dtype} loses something. */
    public List<String> notices(DType dtype) {
        if (check.isKeptBy(dtype)) {
            return notices();
        }
        List<String> notices = new ArrayList<>(notices());
        notices.add("the checkpoint's " + check.matrixTypes() + " weights are rounded to " + dtype);
        return List.copyOf(notices);
    }

    /**
     * Checks that the tensors are those that a program needs. {@link #open} has done so for the config's own program.
     *
     * @throws CheckpointException naming all tensors that are missing, surplus, misshapen, or of a type that no weight has
     */
    public void checkTensors(Program program) {
        TensorCheck.of(folder, tensors, program);
    }

    /** The tensors of the model that have elements which are NaN or infinite; reads them all. */
    public List<NonFiniteTensor> nonFiniteTensors() {
        return modelTensors()
                .parallel()
                .flatMap(tensor -> NonFiniteTensor.in(tensor).stream())
                .toList();
    }

    /**
     * SHA-256, in hexadecimal digits, of the config and of the tensors that the model has, whatever files they lie in; reads them
     * all.
     */
    public String hash() {
        return CheckpointHash.of(this, modelTensors().toList());
    }

    private Stream<StoredTensor> modelTensors() {
        return config.program(1).weights().stream()
                .flatMap(weight -> IntStream.range(0, weight.layers())
                        .boxed()
                        .flatMap(layer -> weight.parts().stream().map(part -> tensor(part.tensorName(layer)))))
                .distinct();
    }

    /** The tensor of a name without prefix, which {@link #checkTensors} has found. */
    public StoredTensor tensor(String name) {
        return tensors.find(name).orElseThrow();
    }
}
