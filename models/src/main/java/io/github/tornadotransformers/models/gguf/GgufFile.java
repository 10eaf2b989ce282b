package io.github.tornadotransformers.models.gguf;

import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ConfigReader;
import io.github.tornadotransformers.models.Quoted;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A model in a GGUF file, or in several of which any was named: its keys and where its tensors are. Tensor data is not read.
 *
 * <p>Source: the format's description, github.com/ggml-org/ggml/blob/master/docs/gguf.md.
 */
public final class GgufFile {
    private static final String ENDING = ".gguf";
    private static final Pattern PART = Pattern.compile("(.*)-(\\d{5})-of-(\\d{5})" + Pattern.quote(ENDING));
    private static final String PARTS = "split.count";
    private static final String PART_INDEX = "split.no";
    private static final String TENSORS_OF_ALL = "split.tensors.count";

    private final Path file;
    private final GgufMetadata metadata;
    private final SequencedMap<String, GgufTensor> tensors;
    private final Map<String, float[]> vectors;

    private GgufFile(
            Path file, GgufMetadata metadata, SequencedMap<String, GgufTensor> tensors, Map<String, float[]> vectors) {
        this.file = file;
        this.metadata = metadata;
        this.tensors = Collections.unmodifiableSequencedMap(tensors);
        this.vectors = vectors;
    }

    /** Whether a path is a file that is called, or begins, as GGUF files do. */
    public static boolean isGguf(Path path) {
        if (!Files.isRegularFile(path)) {
            return false;
        }
        if (path.getFileName().toString().toLowerCase(Locale.ROOT).endsWith(ENDING)) {
            return true;
        }
        try (InputStream stream = Files.newInputStream(path)) {
            byte[] start = stream.readNBytes(Integer.BYTES);
            return start.length == Integer.BYTES
                    && ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN).getInt() == GgufHeader.MAGIC;
        } catch (IOException e) {
            return false;
        }
    }

    /** @throws CheckpointException if a file cannot be read or breaks a rule of the format */
    public static GgufFile open(Path file) {
        GgufHeader header = GgufHeader.read(file);
        GgufMetadata metadata = new GgufMetadata(file, header.values());
        OptionalLong parts = metadata.whole(PARTS);
        return parts.isPresent() && parts.getAsLong() > 1
                ? openParts(file, parts.getAsLong(), metadata)
                : new GgufFile(file, metadata, header.tensors(), Map.of());
    }

    private static GgufFile openParts(Path file, long parts, GgufMetadata named) {
        Matcher name = PART.matcher(file.getFileName().toString());
        if (!name.matches() || Long.parseLong(name.group(3)) != parts) {
            throw named.rejected(PARTS, "as many as in the file's name, …-00001-of-" + number(parts) + ENDING);
        }
        SequencedMap<String, GgufTensor> tensors = new LinkedHashMap<>();
        GgufMetadata first = null;
        for (long part = 0; part < parts; part++) {
            Path each = file.resolveSibling(name.group(1) + "-" + number(part + 1) + "-of-" + name.group(3) + ENDING);
            if (Files.notExists(each)) {
                throw new CheckpointException(
                        Quoted.path(each) + " is missing: it is a part of " + Quoted.path(file.getFileName()));
            }
            GgufHeader header = GgufHeader.read(each);
            GgufMetadata metadata = new GgufMetadata(each, header.values());
            requireValue(metadata, PARTS, parts);
            requireValue(metadata, PART_INDEX, part);
            first = first == null ? metadata : first;
            header.tensors().forEach((key, tensor) -> add(tensors, key, tensor));
        }
        OptionalLong all = first.whole(TENSORS_OF_ALL);
        if (all.isPresent() && all.getAsLong() != tensors.size()) {
            throw first.rejected(TENSORS_OF_ALL, tensors.size() + ", as many as the parts have");
        }
        return new GgufFile(file, first, tensors, Map.of());
    }

    private static void requireValue(GgufMetadata metadata, String key, long expected) {
        OptionalLong found = metadata.whole(key);
        if (found.isEmpty() || found.getAsLong() != expected) {
            throw metadata.rejected(key, Long.toString(expected));
        }
    }

    private static void add(SequencedMap<String, GgufTensor> tensors, String name, GgufTensor tensor) {
        GgufTensor other = tensors.putIfAbsent(name, tensor);
        if (other != null) {
            throw new CheckpointException("tensor " + Quoted.text(name) + " is there twice: in "
                    + Quoted.path(tensor.file()) + " and in " + Quoted.path(other.file()));
        }
    }

    private static String number(long part) {
        return String.format(Locale.ROOT, "%05d", part);
    }

    /**
     * A file that is going to be written, so that what it says can be read.
     *
     * @param vectors the data of those tensors that say something
     */
    public static GgufFile planned(
            Path file,
            SequencedMap<String, GgufValue> values,
            SequencedMap<String, GgufTensor> tensors,
            Map<String, float[]> vectors) {
        return new GgufFile(file, new GgufMetadata(file, values), tensors, vectors);
    }

    /** The elements of a tensor that says something of the model, such as its rotary embedding. */
    float[] vector(GgufTensor tensor) {
        return vectors.containsKey(tensor.name()) ? vectors.get(tensor.name()) : read(tensor);
    }

    private static float[] read(GgufTensor tensor) {
        ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(tensor.bytes())).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel channel = FileChannel.open(tensor.file())) {
            while (bytes.hasRemaining()) {
                if (channel.read(bytes, tensor.offset() + bytes.position()) < 0) {
                    throw new CheckpointException(Quoted.path(tensor.file()) + " became shorter while it was read");
                }
            }
        } catch (IOException e) {
            throw CheckpointException.unreadable(tensor.file(), e);
        }
        float[] elements = new float[bytes.capacity() / Float.BYTES];
        bytes.flip().asFloatBuffer().get(elements);
        return elements;
    }

    /** The file that was named. */
    public Path file() {
        return file;
    }

    public GgufMetadata metadata() {
        return metadata;
    }

    /** The tensors of all parts by name, in the files' order. */
    public SequencedMap<String, GgufTensor> tensors() {
        return tensors;
    }

    /** @throws CheckpointException if it is missing or not implemented */
    public GgufArchitecture architecture() {
        return GgufArchitecture.of(metadata);
    }

    /**
     * The {@code config.json} that says the same as the keys.
     *
     * @throws CheckpointException if a key has the wrong type or is not implemented
     */
    public ConfigReader config() {
        return GgufConfig.of(this);
    }

    /** The tensors by the names that they have in Hugging Face's checkpoints, without those that say how positions are rotated. */
    public SequencedMap<String, GgufTensor> weights() {
        GgufArchitecture architecture = architecture();
        SequencedMap<String, GgufTensor> weights = new LinkedHashMap<>();
        tensors.forEach((name, tensor) -> {
            if (!GgufRope.reads(name)) {
                add(weights, architecture.huggingFaceName(name), tensor);
            }
        });
        return weights;
    }
}
