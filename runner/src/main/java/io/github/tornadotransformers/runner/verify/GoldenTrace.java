package io.github.tornadotransformers.runner.verify;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.checkpoint.CheckpointFiles;
import io.github.tornadotransformers.models.checkpoint.JsonFault;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Logits;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A stored trace of an independent implementation: for each step the ids, the last row's logits, the next token, and
 * optionally the embeddings and the residual after attention and after the MLP of each block, of the last row or of all.
 */
public final class GoldenTrace {
    /** One forward pass over all of its ids. */
    private record Step(int[] ids, double[] logits, int next, List<double[]> lastRow, List<double[]> allRows) {}

    private final List<Step> steps;

    private GoldenTrace(List<Step> steps) {
        this.steps = steps;
    }

    /** @throws CheckpointException if the file cannot be read or is no trace */
    public static GoldenTrace read(Path file) {
        CheckpointFiles.requireContents(file);
        try {
            JsonNode steps =
                    new ObjectMapper().readTree(Files.readAllBytes(file)).path("steps");
            List<Step> read = new ArrayList<>();
            for (JsonNode step : steps) {
                read.add(new Fields(file, "step " + read.size(), step).step());
            }
            if (read.isEmpty()) {
                throw new CheckpointException(Quoted.path(file) + " has no steps, expected a stored trace");
            }
            return new GoldenTrace(read);
        } catch (JacksonException e) {
            throw new CheckpointException(Quoted.path(file) + " is not valid JSON" + JsonFault.describe(e), e);
        } catch (IOException e) {
            throw CheckpointException.unreadable(file, e);
        }
    }

    /** The fields of a step, of exactly the types that they are to have. */
    private record Fields(Path file, String place, JsonNode json) {
        Step step() {
            return new Step(
                    ids(),
                    numbers("last_row_logits", list("last_row_logits")),
                    id("next", json.path("next")),
                    rows("last_row_trace"),
                    rows("all_rows_trace"));
        }

        private int[] ids() {
            JsonNode list = list("ids");
            int[] ids = new int[list.size()];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = id("ids[" + i + "]", list.get(i));
            }
            return ids;
        }

        private int id(String field, JsonNode value) {
            if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 0) {
                throw rejected(field, value, "a token id");
            }
            return value.intValue();
        }

        private JsonNode list(String field) {
            JsonNode list = json.path(field);
            if (!list.isArray() || list.isEmpty()) {
                throw rejected(field, list, "a list of numbers");
            }
            return list;
        }

        private List<double[]> rows(String field) {
            JsonNode points = json.path(field);
            if (!points.isMissingNode() && !points.isArray()) {
                throw rejected(field, points, "a list of lists of numbers");
            }
            List<double[]> rows = new ArrayList<>();
            for (JsonNode point : points) {
                rows.add(numbers(field + "[" + rows.size() + "]", point));
            }
            return rows;
        }

        private double[] numbers(String field, JsonNode list) {
            if (!list.isArray()) {
                throw rejected(field, list, "a list of numbers");
            }
            double[] numbers = new double[list.size()];
            for (int i = 0; i < numbers.length; i++) {
                JsonNode value = list.get(i);
                numbers[i] = value.doubleValue();
                if (!value.isNumber() || !Double.isFinite(numbers[i])) {
                    throw rejected(field + "[" + i + "]", value, "a number");
                }
            }
            return numbers;
        }

        private CheckpointException rejected(String field, JsonNode found, String expected) {
            return new CheckpointException(Quoted.path(file) + ": " + place + ": " + field + " is "
                    + (found.isMissingNode() ? "missing" : Quoted.line(found.toString())) + ", expected " + expected);
        }
    }

    /** Longest text of the trace. */
    public int positions() {
        return steps.stream().mapToInt(step -> step.ids.length).max().orElseThrow();
    }

    /**
     * Runs every step, cached where one continues the other, and compares it with the trace.
     *
     * @throws CheckpointException if the trace does not have the program's shapes
     */
    public Comparison check(String engine, ForwardPass forward, Tolerance tolerance) {
        requireKnownIds(forward.program().vocabSize());
        Comparison comparison = new Comparison("golden", engine, tolerance);
        Recorder recorder = new Recorder(forward, false);
        int[] cached = {};
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            boolean continues =
                    step.ids.length > cached.length && Arrays.equals(cached, Arrays.copyOf(step.ids, cached.length));
            int first = continues ? cached.length : 0;
            check(i, step, first, recorder, comparison);
            cached = step.ids;
        }
        return comparison;
    }

    private void requireKnownIds(int vocabSize) {
        steps.stream()
                .flatMapToInt(step -> Arrays.stream(step.ids))
                .filter(id -> id < 0 || id >= vocabSize)
                .findFirst()
                .ifPresent(id -> {
                    throw new CheckpointException("the golden trace has the token id " + id
                            + ", but the model's vocab_size is " + vocabSize + ": it is not a trace of this model");
                });
    }

    private static void check(int index, Step step, int first, Recorder recorder, Comparison comparison) {
        Program program = recorder.program();
        String head = program.head().getLast().name();
        requireInVocabulary(step, program.vocabSize());
        float[] logits = recorder.forward(Arrays.copyOfRange(step.ids, first, step.ids.length), first);
        int residuals = 0;
        for (Map.Entry<TracePoint, StepTrace.Rows> entry :
                recorder.step().points().entrySet()) {
            if (!entry.getKey().op().equals(head)) {
                checkResidual(index, step, residuals, entry.getKey(), entry.getValue(), comparison);
                residuals++;
            }
        }
        int last = step.ids.length - 1;
        TracePoint point = new TracePoint(TraceListener.NO_LAYER, head);
        requireSize(point, step.logits, program.vocabSize());
        comparison.compare(index, point, last, program.vocabSize(), logits, step.logits);
        comparison.compareToken(index, last, step.next, Logits.argmax(logits, program.vocabSize()));
    }

    /** The n-th residual of a step: all of its rows where they are stored, else the last. */
    private static void checkResidual(
            int index, Step step, int n, TracePoint point, StepTrace.Rows rows, Comparison comparison) {
        int width = rows.width();
        float[] values = rows.values();
        if (n < step.allRows.size()) {
            requireSize(point, step.allRows.get(n), values.length);
            comparison.compare(index, point, rows.firstPosition(), width, values, step.allRows.get(n));
        } else if (n < step.lastRow.size()) {
            float[] last = Arrays.copyOfRange(values, values.length - width, values.length);
            requireSize(point, step.lastRow.get(n), width);
            comparison.compare(index, point, step.ids.length - 1, width, last, step.lastRow.get(n));
        }
    }

    private static void requireSize(TracePoint point, double[] golden, int size) {
        if (golden.length != size) {
            throw new CheckpointException("the golden trace has " + golden.length + " elements at " + point
                    + ", but the model has " + size + ": it is not a trace of this model");
        }
    }

    private static void requireInVocabulary(Step step, int vocabSize) {
        for (int id : step.ids) {
            if (id >= vocabSize) {
                throw new CheckpointException("the golden trace has the token id " + id
                        + ", but the model's vocab_size is " + vocabSize + ": it is not a trace of this model");
            }
        }
    }
}
