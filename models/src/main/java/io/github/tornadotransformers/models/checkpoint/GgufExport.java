package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.ModelConfig;
import io.github.tornadotransformers.models.ModelFamily;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.gguf.GgufArchitecture;
import io.github.tornadotransformers.models.gguf.GgufFile;
import io.github.tornadotransformers.models.gguf.GgufHeaderWriter;
import io.github.tornadotransformers.models.gguf.GgufKeys;
import io.github.tornadotransformers.models.gguf.GgufTensor;
import io.github.tornadotransformers.models.gguf.GgufTensorType;
import io.github.tornadotransformers.models.gguf.GgufValue;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;

/** Writes a checkpoint as a GGUF file that llama.cpp loads. */
public final class GgufExport {
    /** The types that a file's matrices may have, with the number that says so in the file. */
    private static final Map<GgufTensorType, Integer> FILE_TYPES = Map.of(
            GgufTensorType.F32, 0,
            GgufTensorType.F16, 1,
            GgufTensorType.Q4_0, 2,
            GgufTensorType.Q8_0, 7,
            GgufTensorType.BF16, 32);

    private static final int QUANTIZATION_VERSION = 2;
    private static final String HEAD = GgufArchitecture.GPT2.tensorName(ModelFamily.HEAD);

    private final Checkpoint checkpoint;
    private final GgufArchitecture architecture;
    private final ModelConfig config;
    private final GgufTensorType type;
    private final List<Tensor> tensors = new ArrayList<>();

    private GgufExport(Checkpoint checkpoint, GgufArchitecture architecture, ModelConfig config, GgufTensorType type) {
        this.checkpoint = checkpoint;
        this.architecture = architecture;
        this.config = config;
        this.type = type;
    }

    /** A tensor of the file, and where its rows come from. */
    private record Tensor(GgufHeaderWriter.Entry entry, Rows rows) {}

    /** Gives the elements of one row. */
    @FunctionalInterface
    private interface Rows {
        float[] row(long row);
    }

    /**
     * Writes the file whole or not at all.
     *
     * @param type of the matrices whose rows are whole blocks of it; others become F16, vectors and positions F32
     * @param tokens the keys of the vocabulary; empty for a model without text
     * @throws InvalidRequest if GGUF cannot say what the model is
     * @throws CheckpointException if a tensor cannot be read, or has a value that is too large for the type
     * @throws IOException if the file cannot be written; an older file of that name is then as it was
     */
    public static void write(
            Path file, Checkpoint checkpoint, GgufTensorType type, SequencedMap<String, GgufValue> tokens)
            throws IOException {
        if (!FILE_TYPES.containsKey(type)) {
            throw new InvalidRequest(type + " is not written; expected one of "
                    + String.join(", ", "F32", "F16", "BF16", "Q8_0", "Q4_0"));
        }
        ModelConfig config = asLlama(checkpoint);
        GgufArchitecture architecture = GgufArchitecture.ofModelType(config.modelType())
                .orElseThrow(() -> new InvalidRequest("GGUF has no architecture for " + config.modelType()));
        new GgufExport(checkpoint, architecture, config, type).write(file, tokens);
    }

    /** A Mistral without a window is a Llama, which is what GGUF calls it. */
    private static ModelConfig asLlama(Checkpoint checkpoint) {
        ModelConfig config = checkpoint.config();
        if (GgufArchitecture.ofModelType(config.modelType()).isPresent()) {
            return config;
        }
        ObjectNode json = described(config).put(ModelFamilies.MODEL_TYPE, GgufArchitecture.LLAMA.modelType());
        ConfigReader reader = new ConfigReader(checkpoint.path(), json);
        ModelConfig llama = ModelFamilies.named(reader).parse(reader);
        return llama.weights().equals(config.weights()) ? llama : config;
    }

    private static ObjectNode described(ModelConfig config) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ModelFamilies.describe(config, json);
        return json;
    }

    private void write(Path file, SequencedMap<String, GgufValue> tokens) throws IOException {
        ObjectNode json = described(config);
        SequencedMap<String, GgufValue> keys = GgufKeys.of(architecture, json);
        keys.put("general.type", new GgufValue.Text("model"));
        keys.put("general.name", new GgufValue.Text(name()));
        keys.put("general.file_type", new GgufValue.Whole(FILE_TYPES.get(type)));
        keys.put("general.quantization_version", new GgufValue.Whole(QUANTIZATION_VERSION));
        keys.putAll(tokens);
        SequencedMap<String, float[]> factors = GgufKeys.factors(json);
        factors.forEach((name, values) -> tensors.add(new Tensor(
                new GgufHeaderWriter.Entry(name, GgufTensorType.F32, List.of((long) values.length)), _ -> values)));
        addWeights();
        requireSaid(file, keys, factors);
        repeatTiedHead();
        List<GgufHeaderWriter.Entry> entries =
                tensors.stream().map(Tensor::entry).toList();
        WholeFile.write(file, channel -> {
            WholeFile.writeFully(channel, ByteBuffer.wrap(GgufHeaderWriter.bytes(keys, entries)));
            for (Tensor tensor : tensors) {
                write(channel, tensor);
            }
        });
    }

    private String name() {
        Path name = checkpoint.path().toAbsolutePath().normalize().getFileName();
        return name == null ? config.modelType() : name.toString();
    }

    private void addWeights() {
        Set<String> seen = new LinkedHashSet<>();
        for (Weight weight : config.weights()) {
            for (int layer = 0; layer < weight.layers(); layer++) {
                for (TensorPart part : weight.parts()) {
                    if (seen.add(part.tensorName(layer))) {
                        tensors.add(tensor(weight, part.tensorName(layer)));
                    }
                }
            }
        }
    }

    /** llama.cpp has not always taken a GPT-2's embedding for the head that is not there. */
    private void repeatTiedHead() {
        boolean hasHead =
                tensors.stream().anyMatch(tensor -> tensor.entry.name().equals(HEAD));
        if (architecture != GgufArchitecture.GPT2 || hasHead) {
            return;
        }
        tensors.stream()
                .filter(tensor -> tensor.entry.name().equals(architecture.tensorName("wte.weight")))
                .findFirst()
                .ifPresent(embedding -> tensors.add(new Tensor(
                        new GgufHeaderWriter.Entry(HEAD, embedding.entry.type(), embedding.entry.shape()),
                        embedding.rows)));
    }

    private Tensor tensor(Weight weight, String name) {
        StoredTensor stored = checkpoint.tensor(name);
        List<Long> shape = architecture.isTurned(name) != stored.form().turned()
                ? stored.shape().reversed()
                : stored.shape();
        GgufHeaderWriter.Entry entry =
                new GgufHeaderWriter.Entry(architecture.tensorName(name), typeOf(weight, shape), shape);
        return new Tensor(entry, rows(stored, name));
    }

    private GgufTensorType typeOf(Weight weight, List<Long> shape) {
        if (weight.kind() == Weight.Kind.FLOAT32) {
            return GgufTensorType.F32;
        }
        return shape.getLast() % type.blockSize() == 0 ? type : GgufTensorType.F16;
    }

    private Rows rows(StoredTensor stored, String name) {
        StoredRows rows = new StoredRows(stored);
        if (architecture.isTurned(name) != stored.form().turned()) {
            return rows::column;
        }
        TensorForm form = new TensorForm(
                false, false, architecture.interleaves(name) ? config.heads().headDim() : 0);
        boolean shifts = architecture.isShifted(name) && !stored.form().shifted();
        return row -> {
            boolean isVector = stored.shape().size() == 1;
            float[] elements = isVector ? form.stored(rows.row(row)) : rows.row(form.namedRow(row));
            for (int i = 0; shifts && i < elements.length; i++) {
                elements[i] += 1f;
            }
            return elements;
        };
    }

    /** That the same model is read from the file. */
    private void requireSaid(Path file, SequencedMap<String, GgufValue> keys, Map<String, float[]> factors) {
        SequencedMap<String, GgufTensor> planned = new LinkedHashMap<>();
        for (Tensor tensor : tensors) {
            GgufHeaderWriter.Entry entry = tensor.entry;
            planned.put(
                    entry.name(), new GgufTensor(file, entry.name(), entry.type(), entry.shape(), 0, entry.bytes()));
        }
        ConfigReader said = GgufFile.planned(file, keys, planned, factors).config();
        ModelConfig read = ModelFamilies.named(said).parse(said);
        if (!read.equals(config)) {
            throw new InvalidRequest("GGUF cannot say what this model is: " + difference(read));
        }
    }

    private String difference(ModelConfig read) {
        ObjectNode here = described(config);
        ObjectNode there = described(read);
        return here.properties().stream()
                .filter(field -> !field.getValue().equals(there.get(field.getKey())))
                .map(field ->
                        Quoted.line(field.getKey() + " " + field.getValue() + " would be " + there.get(field.getKey())))
                .findFirst()
                .orElse("its config is read as another");
    }

    private static void write(FileChannel channel, Tensor tensor) throws IOException {
        GgufHeaderWriter.Entry entry = tensor.entry;
        long rowElements = entry.shape().getLast();
        long rows = entry.elements() / rowElements;
        int rowBytes = Math.toIntExact(entry.bytes() / rows);
        ByteBuffer buffer = ByteBuffer.allocate(rowBytes).order(ByteOrder.LITTLE_ENDIAN);
        int overflows = 0;
        for (long row = 0; row < rows; row++) {
            buffer.clear();
            overflows += GgufQuantizer.write(entry.type(), tensor.rows.row(row), buffer);
            WholeFile.writeFully(channel, buffer.flip());
        }
        if (overflows > 0) {
            throw new CheckpointException(overflows + " values of tensor " + Quoted.text(entry.name())
                    + " are too large for " + entry.type() + ": choose another type");
        }
        WholeFile.writeFully(channel, ByteBuffer.allocate(entry.padding()));
    }
}
