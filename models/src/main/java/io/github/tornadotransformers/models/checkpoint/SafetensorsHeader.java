package io.github.tornadotransformers.models.checkpoint;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * Parses a safetensors header: {@code {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}}, with an
 * optional {@code "__metadata__"} of texts. Offsets count from the end of the header.
 */
final class SafetensorsHeader {
    static final String METADATA = "__metadata__";
    static final String DTYPE = "dtype";
    static final String SHAPE = "shape";
    static final String OFFSETS = "data_offsets";

    /** Bits of an element of each of the format's types. */
    private static final Map<String, Integer> BITS = Map.ofEntries(
            Map.entry("F4", 4),
            Map.entry("F6_E2M3", 6),
            Map.entry("F6_E3M2", 6),
            Map.entry("BOOL", 8),
            Map.entry("U8", 8),
            Map.entry("I8", 8),
            Map.entry("F8_E5M2", 8),
            Map.entry("F8_E4M3", 8),
            Map.entry("F8_E8M0", 8),
            Map.entry("I16", 16),
            Map.entry("U16", 16),
            Map.entry("F16", 16),
            Map.entry("BF16", 16),
            Map.entry("I32", 32),
            Map.entry("U32", 32),
            Map.entry("F32", 32),
            Map.entry("I64", 64),
            Map.entry("U64", 64),
            Map.entry("F64", 64),
            Map.entry("C64", 64));

    /** Duplicates are found here, not by Jackson; interning the names of a hostile header would only cost memory. */
    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .build();

    private final Path file;
    private final JsonParser json;
    private final long dataOffset;
    private final long dataBytes;
    private final Map<String, String> metadata = new LinkedHashMap<>();
    private final SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();

    private SafetensorsHeader(Path file, JsonParser json, long dataOffset, long dataBytes) {
        this.file = file;
        this.json = json;
        this.dataOffset = dataOffset;
        this.dataBytes = dataBytes;
    }

    /**
     * @param dataOffset where tensor data begins in the file
     * @param dataBytes how much there is
     * @throws CheckpointException if the header breaks a rule
     */
    static SafetensorsHeader parse(Path file, byte[] header, long dataOffset, long dataBytes) throws IOException {
        Reader characters =
                new InputStreamReader(new ByteArrayInputStream(header), StandardCharsets.UTF_8.newDecoder());
        try (JsonParser json = JSON.createParser(characters)) {
            SafetensorsHeader parsed = new SafetensorsHeader(file, json, dataOffset, dataBytes);
            parsed.readTensors();
            parsed.requireCoverage();
            return parsed;
        } catch (CharacterCodingException e) {
            throw new CheckpointException(Quoted.path(file) + ": the header is not UTF-8", e);
        } catch (JacksonException e) {
            throw new CheckpointException(
                    Quoted.path(file) + ": the header is not valid JSON" + JsonFault.describe(e), e);
        }
    }

    Map<String, String> metadata() {
        return metadata;
    }

    SequencedMap<String, StoredTensor> tensors() {
        return tensors;
    }

    private void readTensors() throws IOException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            throw rejected("the header is " + found() + ", expected a JSON object");
        }
        boolean metadataSeen = false;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            json.nextToken();
            if (!name.equals(METADATA)) {
                addTensor(name);
            } else if (metadataSeen) {
                throw rejected(METADATA + " is there twice");
            } else {
                metadataSeen = true;
                readMetadata();
            }
        }
        if (json.nextToken() != null) {
            throw rejected("the header goes on after its JSON object");
        }
    }

    private void addTensor(String name) throws IOException {
        StoredTensor tensor = readTensor(name);
        if (tensors.putIfAbsent(name, tensor) != null) {
            throw rejected(tensorWords(name) + " is there twice");
        }
    }

    private void readMetadata() throws IOException {
        if (json.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw rejected(METADATA + " is " + found() + ", expected an object");
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            if (json.nextToken() != JsonToken.VALUE_STRING) {
                throw rejected(METADATA + " " + Quoted.text(key) + " is " + found() + ", expected a text");
            }
            metadata.put(key, json.getText());
        }
    }

    private StoredTensor readTensor(String name) throws IOException {
        String dtype = null;
        List<Long> shape = null;
        List<Long> offsets = null;
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw rejected(tensorWords(name) + " is " + found() + ", expected an object");
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            json.nextToken();
            switch (field) {
                case DTYPE -> dtype = first(name, field, dtype, readText(name));
                case SHAPE -> shape = first(name, field, shape, readNumbers(name, field));
                case OFFSETS -> offsets = first(name, field, offsets, readNumbers(name, field));
                default -> json.skipChildren();
            }
        }
        requirePresent(name, DTYPE, dtype);
        requirePresent(name, SHAPE, shape);
        requirePresent(name, OFFSETS, offsets);
        return placed(name, dtype, shape, offsets);
    }

    private <T> T first(String name, String field, T earlier, T value) {
        if (earlier != null) {
            throw rejected(tensorWords(name) + " has " + field + " twice");
        }
        return value;
    }

    private void requirePresent(String name, String field, Object value) {
        if (value == null) {
            throw rejected(tensorWords(name) + " has no " + field);
        }
    }

    private String readText(String name) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw rejected(tensorWords(name) + ": " + DTYPE + " is " + found() + ", expected a text");
        }
        return json.getText();
    }

    private List<Long> readNumbers(String name, String field) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw rejected(tensorWords(name) + ": " + field + " is " + found() + ", expected a list of whole numbers");
        }
        List<Long> numbers = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            numbers.add(readNumber(name, field));
        }
        return numbers;
    }

    private long readNumber(String name, String field) throws IOException {
        if (json.currentToken() == JsonToken.VALUE_NUMBER_INT) {
            try {
                long number = Long.parseLong(json.getText());
                if (number >= 0) {
                    return number;
                }
            } catch (NumberFormatException _) {
                throw rejected(tensorWords(name) + ": " + field + " has " + found() + ", more than " + Long.MAX_VALUE);
            }
        }
        throw rejected(tensorWords(name) + ": " + field + " has " + found() + ", expected whole numbers of at least 0");
    }

    private StoredTensor placed(String name, String dtype, List<Long> shape, List<Long> offsets) {
        if (offsets.size() != 2) {
            throw rejected(
                    tensorWords(name) + ": " + OFFSETS + " has " + offsets.size() + " numbers, expected begin and end");
        }
        long begin = offsets.get(0);
        long end = offsets.get(1);
        if (begin > end) {
            throw rejected(tensorWords(name) + " begins at " + begin + " and ends before, at " + end);
        }
        if (end > dataBytes) {
            throw rejected(tensorWords(name) + " ends at byte " + end + " of the data, but the file holds only "
                    + dataBytes + ": " + (end - dataBytes) + " bytes are missing (an incomplete download?)");
        }
        requireSize(name, dtype, shape, end - begin);
        return new StoredTensor(file, name, dtype, shape, dataOffset + begin, end - begin);
    }

    private void requireSize(String name, String dtype, List<Long> shape, long bytes) {
        Integer bits = BITS.get(dtype);
        if (bits == null) {
            return;
        }
        long expectedBits;
        try {
            expectedBits = shape.stream().reduce(1L, Math::multiplyExact);
            expectedBits = Math.multiplyExact(expectedBits, (long) bits);
        } catch (ArithmeticException e) {
            throw new CheckpointException(
                    Quoted.path(file) + ": " + tensorWords(name) + " has shape " + Quoted.line(shape.toString())
                            + ", more elements than a file can hold",
                    e);
        }
        if (expectedBits != Math.multiplyExact(bytes, (long) Byte.SIZE)) {
            throw rejected(tensorWords(name) + " of type " + dtype + " and shape " + Quoted.line(shape.toString())
                    + " needs " + Math.ceilDiv(expectedBits, Byte.SIZE) + " bytes, but " + OFFSETS + " give it "
                    + bytes);
        }
    }

    private void requireCoverage() {
        List<StoredTensor> inOrder = tensors.values().stream()
                .sorted(Comparator.comparingLong(StoredTensor::offset).thenComparingLong(StoredTensor::bytes))
                .toList();
        long covered = dataOffset;
        for (StoredTensor tensor : inOrder) {
            if (tensor.offset() > covered) {
                throw rejected((tensor.offset() - covered) + " bytes before " + tensorWords(tensor.name())
                        + " belong to no tensor");
            }
            if (tensor.offset() < covered) {
                long shared = covered - tensor.offset();
                throw rejected(tensorWords(tensor.name()) + " overlaps the one before it by " + shared
                        + (shared == 1 ? " byte" : " bytes"));
            }
            covered += tensor.bytes();
        }
        long left = dataOffset + dataBytes - covered;
        if (left > 0) {
            throw rejected(left + " bytes after the last tensor belong to no tensor");
        }
    }

    private String found() throws IOException {
        JsonToken token = json.currentToken();
        return token == null
                ? "empty"
                : token.isScalarValue()
                        ? Quoted.line(json.getText())
                        : switch (token) {
                            case START_ARRAY -> "a list";
                            case START_OBJECT -> "an object";
                            default -> "incomplete";
                        };
    }

    private static String tensorWords(String name) {
        return "tensor " + Quoted.text(name);
    }

    private CheckpointException rejected(String words) {
        return new CheckpointException(Quoted.path(file) + ": " + words);
    }
}
