package io.github.tornadotransformers.runner.commands;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.ResultStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Where answers go, one line for each line of the input. What a file has already, from a run that was interrupted, stays and is
 * not asked for again; of a line that was cut off the beginning is dropped.
 */
abstract class BatchOutput implements AutoCloseable {
    /** @throws Failure if it cannot be written */
    abstract void println(String line);

    /**
     * Takes those lines from the input that have answers.
     *
     * @return how many
     * @throws Failure if the answers are to another input
     */
    abstract int skip(BatchLines lines);

    @Override
    public abstract void close();

    static BatchOutput to(ResultStream stream) {
        return new BatchOutput() {
            @Override
            void println(String line) {
                stream.println(line);
            }

            @Override
            int skip(BatchLines lines) {
                return 0;
            }

            @Override
            public void close() {}
        };
    }

    /**
     * @param model that is to answer
     * @throws Failure if the file cannot be written, or has something else than such answers
     */
    static BatchOutput open(Path path, String model) {
        try {
            List<JsonNode> answers = new ArrayList<>();
            long end = Files.exists(path) ? ToFile.read(path, model, answers) : 0;
            RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
            file.setLength(end);
            file.seek(end);
            return new ToFile(path, file, answers);
        } catch (IOException e) {
            throw ToFile.unwritable(path, e);
        }
    }

    private static final class ToFile extends BatchOutput {
        private static final JsonMapper MAPPER = new JsonMapper();
        private static final String ID = "id";
        private static final String ADVICE = ": give another --output, or remove it";
        private static final Duration PATIENCE = Duration.ofDays(1);

        private final Path path;
        private final RandomAccessFile file;
        private final List<JsonNode> answers;

        ToFile(Path path, RandomAccessFile file, List<JsonNode> answers) {
            this.path = path;
            this.file = file;
            this.answers = answers;
        }

        static Failure unwritable(Path path, IOException e) {
            return Failure.of(path + " cannot be written: " + IoReason.of(e), e);
        }

        /** @return where the last whole line ends */
        static long read(Path path, String model, List<JsonNode> answers) throws IOException {
            byte[] bytes = Files.readAllBytes(path);
            int end = 0;
            for (int at = 0; at < bytes.length; at++) {
                if (bytes[at] == '\n') {
                    String line = new String(bytes, end, at - end, StandardCharsets.UTF_8);
                    answers.add(answer(path, model, answers.size() + 1, line));
                    end = at + 1;
                }
            }
            return end;
        }

        private static JsonNode answer(Path path, String model, int number, String line) {
            String place = path + ", line " + number + ", ";
            try {
                JsonNode object = MAPPER.readTree(line);
                String found = object.path("model").asText(model);
                if (!found.equals(model)) {
                    throw Failure.of(place + "was made by model " + found + ", not by " + model + ADVICE);
                }
                if (object.has(ID)) {
                    return object;
                }
            } catch (JsonProcessingException _) {
                // As any other line that is not ours.
            }
            throw Failure.of(place + "is no answer of `transformers batch`" + ADVICE);
        }

        @Override
        int skip(BatchLines lines) {
            for (int index = 0; index < answers.size(); index++) {
                Optional<BatchLines.Line> line = lines.next(PATIENCE);
                if (line.isEmpty()) {
                    throw Failure.of(path + " has " + answers.size() + " answers, but the input " + index
                            + " lines: it is from another input" + ADVICE);
                }
                JsonNode id = line.get().text().map(BatchRequest::idOf).orElse(null);
                JsonNode found = answers.get(index).get(ID);
                if (!Objects.equals(found.isNull() ? null : found, id)) {
                    throw Failure.of(path + ", line " + (index + 1) + ", has id " + found + ", but the input's is " + id
                            + ": it is from another input" + ADVICE);
                }
            }
            return answers.size();
        }

        @Override
        void println(String line) {
            try {
                file.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw unwritable(path, e);
            }
        }

        @Override
        public void close() {
            try {
                file.close();
            } catch (IOException e) {
                throw unwritable(path, e);
            }
        }
    }
}
