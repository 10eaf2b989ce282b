package io.github.tornadotransformers.models.checkpoint;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A checkpoint, opened and checked: its config, its end tokens, and where its tensors are. It is a folder in Hugging Face's layout,
 * or a GGUF file. Tensor data is read by {@link WeightLoader}.
 */
public final class Checkpoint implements ModelSource {
    static final String CONFIG = "config.json";
    static final String SINGLE_FILE = "model.safetensors";

    static final String END_TOKENS = "eos_token_id";
    static final String BOS_TOKEN = "bos_token_id";

    private final StoredModel stored;
    private final ModelConfig config;
    private final List<Integer> endTokens;
    private final OptionalInt bosToken;
    private final TensorIndex tensors;
    private final TensorCheck check;

    private Checkpoint(
            StoredModel stored,
            ModelConfig config,
            List<Integer> endTokens,
            OptionalInt bosToken,
            TensorIndex tensors,
            TensorCheck check) {
        this.stored = stored;
        this.config = config;
        this.endTokens = endTokens;
        this.bosToken = bosToken;
        this.tensors = tensors;
        this.check = check;
    }

    /**
     * Reads the config and the headers of the weight files, and checks that the tensors are those of the config's program.
     *
     * @param path a folder in Hugging Face's layout, or a GGUF file
     * @throws CheckpointException if anything is missing, broken, or asks for what is not implemented
     */
    public static Checkpoint open(Path path) {
        StoredModel stored = StoredModel.open(path);
        ModelFamily<?> family = ModelFamilies.named(stored.config());
        ModelConfig config = family.parse(stored.config());
        List<Integer> endTokens = stored.endTokens();
        OptionalInt bosToken = stored.bosToken();
        Program program = config.program(1);
        TensorIndex tensors = stored.tensors(family, config).withTiedHead(program);
        TensorCheck check = TensorCheck.of(stored, tensors, program);
        return new Checkpoint(stored, config, endTokens, bosToken, tensors, check);
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

    /** The folder, or the GGUF file. */
    public Path path() {
        return stored.path();
    }

    @Override
    public ModelConfig config() {
        return config;
    }

    /** Ids that end a text; may be empty. */
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
    public List<ColumnRun> columns(Weight weight, int layer) {
        StoredTensors source = new StoredTensors(this);
        return ColumnRun.of(weight, part -> source.type(weight, layer, part));
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
        TensorCheck.of(stored, tensors, program);
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
