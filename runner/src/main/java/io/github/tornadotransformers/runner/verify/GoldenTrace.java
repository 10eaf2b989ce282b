package io.github.tornadotransformers.runner.verify;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.generation.ForwardPass;
import io.github.tornadotransformers.models.generation.Logits;
import io.github.tornadotransformers.models.generation.TraceListener;
import io.github.tornadotransformers.models.program.Program;
import java.io.IOException;
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
        try {
            JsonNode steps = new ObjectMapper().readTree(file.toFile()).path("steps");
            List<Step> read = new ArrayList<>();
            for (JsonNode step : steps) {
                read.add(new Step(
                        Arrays.stream(doubles(file, step, "ids"))
                                .mapToInt(id -> (int) id)
                                .toArray(),
                        doubles(file, step, "last_row_logits"),
                        step.path("next").asInt(-1),
                        rows(step, "last_row_trace"),
                        rows(step, "all_rows_trace")));
            }
            if (read.isEmpty()) {
                throw new CheckpointException(file + " has no steps, expected a stored trace");
            }
            return new GoldenTrace(read);
        } catch (JsonProcessingException e) {
            throw new CheckpointException(file + " is not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new CheckpointException(file + " cannot be read: " + e.getMessage());
        }
    }

    private static double[] doubles(Path file, JsonNode step, String field) {
        JsonNode array = step.path(field);
        if (!array.isArray() || array.isEmpty()) {
            throw new CheckpointException(file + ": a step has no '" + field + "', expected a list of numbers");
        }
        return numbers(array);
    }

    private static double[] numbers(JsonNode array) {
        double[] numbers = new double[array.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = array.get(i).asDouble(Double.NaN);
        }
        return numbers;
    }

    private static List<double[]> rows(JsonNode step, String field) {
        List<double[]> rows = new ArrayList<>();
        step.path(field).forEach(row -> rows.add(numbers(row)));
        return rows;
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
}
