package io.github.tornadotransformers.benchmarks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An earlier result of {@code bench --format json}. */
public final class EarlierRun {
    private static final String PROCESSOR = "processor";

    private final Path file;
    private final Optional<String> processor;
    private final Map<String, Samples> speeds;

    private EarlierRun(Path file, Optional<String> processor, Map<String, Samples> speeds) {
        this.file = file;
        this.processor = processor;
        this.speeds = speeds;
    }

    /** @throws BenchmarkException if the file cannot be read or is no such result */
    public static EarlierRun read(Path file) {
        JsonNode root;
        try {
            root = new ObjectMapper().readTree(Files.readAllBytes(file));
        } catch (JsonProcessingException e) {
            throw notAResult(file, "it is not JSON", e);
        } catch (IOException e) {
            throw new BenchmarkException(
                    Wording.of("%s %s cannot be read: %s", Term.EARLIER_RESULT, file, IoReason.of(e)), e);
        }
        Map<String, Samples> speeds = new LinkedHashMap<>();
        for (JsonNode row : root.path(JsonReport.ROWS)) {
            JsonNode key = row.path(JsonReport.KEY);
            List<Double> samples = new ArrayList<>();
            for (JsonNode sample : row.path(JsonReport.SAMPLES)) {
                samples.add(sample.isNumber() ? sample.doubleValue() : Double.NaN);
            }
            if (!key.isTextual() || samples.isEmpty() || !samples.stream().allMatch(EarlierRun::isSpeed)) {
                throw notAResult(file, "row " + speeds.size() + " has no key or no speeds", null);
            }
            speeds.put(key.textValue(), new Samples(samples));
        }
        if (speeds.isEmpty()) {
            throw notAResult(file, "it has no rows", null);
        }
        JsonNode processor = root.path(JsonReport.ENVIRONMENT).path(PROCESSOR);
        return new EarlierRun(file, Optional.ofNullable(processor.textValue()), speeds);
    }

    private static boolean isSpeed(double value) {
        return Double.isFinite(value) && value > 0;
    }

    private static BenchmarkException notAResult(Path file, String why, Throwable cause) {
        return new BenchmarkException(
                Wording.of("%s %s is not a result of models or kernels in JSON: %s", Term.EARLIER_RESULT, file, why),
                cause);
    }

    /** How a row has changed; empty if it was not run then. */
    public Optional<Change> change(BenchRow row) {
        return Optional.ofNullable(speeds.get(row.key())).map(earlier -> Change.between(earlier, row.speed()));
    }

    /** What a reader of the comparison should know. */
    public List<String> notices(BenchReport report) {
        List<String> notices = new ArrayList<>();
        Optional<String> here = Optional.ofNullable(report.environment().get(PROCESSOR));
        if (!processor.equals(here)) {
            notices.add(file + " was measured on another processor: " + processor.orElse("unknown"));
        }
        List<String> now = report.rows().stream().map(BenchRow::key).toList();
        speeds.keySet().stream()
                .filter(key -> !now.contains(key))
                .forEach(key -> notices.add("only in " + file + ": " + key));
        return notices;
    }
}
