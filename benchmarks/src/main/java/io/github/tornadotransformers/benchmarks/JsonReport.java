package io.github.tornadotransformers.benchmarks;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.checkpoint.DType;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A {@link BenchReport} as one JSON object, whose rows are also the lines of the CSV form. */
public final class JsonReport {
    static final String ROWS = "results";
    static final String KEY = "key";
    static final String SAMPLES = "speed_samples";
    static final String ENVIRONMENT = "environment";

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final MathContext DIGITS = new MathContext(6);
    private static final double GIGA = 1e9;

    private JsonReport() {}

    /** @param earlier a run to hold it against */
    public static ObjectNode of(BenchReport report, Optional<EarlierRun> earlier) {
        ObjectNode object = NODES.objectNode();
        ObjectNode environment = object.putObject(ENVIRONMENT);
        report.environment().forEach(environment::put);
        ArrayNode limits = object.putArray("limits");
        for (Limits each : report.limits()) {
            ObjectNode node = limits.addObject().put("threads", each.threads());
            putLimits(node, each);
        }
        rows(report, earlier).forEach(object.putArray(ROWS)::add);
        return object;
    }

    /** Flat objects with the same fields. */
    static List<ObjectNode> rows(BenchReport report, Optional<EarlierRun> earlier) {
        List<ObjectNode> rows = new ArrayList<>();
        for (BenchRow row : report.rows()) {
            ObjectNode node = switch (row) {
                case ModelRow model -> model(model);
                case KernelRow kernel -> kernel(kernel);
                case ProfileRow part -> part(part);
            };
            earlier.ifPresent(run -> putChange(node, run.change(row)));
            rows.add(node);
        }
        report.predictions().forEach(each -> rows.add(prediction(each)));
        return rows;
    }

    private static ObjectNode model(ModelRow row) {
        ObjectNode node = NODES.objectNode();
        node.put(KEY, row.key())
                .put("model", row.model())
                .put("parameters", row.parameters())
                .put("weight_bytes", row.weightBytes())
                .put("engine", row.engine())
                .put("device", row.device())
                .put("dtype", row.dtype())
                .put("threads", row.threads())
                .put("test", row.test().name())
                .put("tokens", row.test().tokens())
                .put("depth", row.test().depth())
                .put("sequences", row.test().sequences());
        number(node, "tokens_per_s", row.tokensPerSecond().mean());
        number(node, "tokens_per_s_stddev", row.tokensPerSecond().deviation());
        number(node, "tokens_per_s_min", row.tokensPerSecond().min());
        number(node, "tokens_per_s_max", row.tokensPerSecond().max());
        number(node, "gb_per_s", row.bytesPerSecond() / GIGA);
        number(node, "read_share", row.readShare());
        number(node, "gflop_per_s", row.operationsPerSecond() / GIGA);
        number(node, "peak_share", row.operationShare());
        putLimits(node, row.limits());
        return putSamples(node, row);
    }

    private static ObjectNode kernel(KernelRow row) {
        ObjectNode node = NODES.objectNode();
        node.put(KEY, row.key())
                .put("model", row.model())
                .put("op", row.shape().name())
                .put("phase", row.phase().toString().toLowerCase(Locale.ROOT))
                .put("rows", row.shape().rows())
                .put("shape", row.shape().words())
                .put("dtype", row.dtype())
                .put("engine", row.engine())
                .put("threads", row.threads());
        number(node, "seconds", row.seconds().mean());
        number(node, "seconds_stddev", row.seconds().deviation());
        number(node, "seconds_min", row.seconds().min());
        number(node, "seconds_max", row.seconds().max());
        node.put("bytes", row.shape().cost().bytes())
                .put("operations", row.shape().cost().operations());
        number(node, "gb_per_s", row.bytesPerSecond() / GIGA);
        number(node, "gflop_per_s", row.operationsPerSecond() / GIGA);
        node.put("bound", row.bound());
        number(node, "limit_share", row.share());
        putLimits(node, row.limits());
        return putSamples(node, row);
    }

    private static ObjectNode part(ProfileRow row) {
        ObjectNode node = NODES.objectNode();
        node.put(KEY, row.key())
                .put("model", row.model())
                .put("engine", row.engine())
                .put("dtype", row.dtype())
                .put("threads", row.threads())
                .put("test", row.test().name())
                .put("op", row.op())
                .put("calls", row.callsOfPass());
        number(node, "seconds", row.secondsOfPass());
        number(node, "share", row.share());
        number(node, "gb_per_s", row.bytesPerSecond() / GIGA);
        number(node, "gflop_per_s", row.operationsPerSecond() / GIGA);
        putLimits(node, row.limits());
        return putSamples(node, row);
    }

    private static ObjectNode prediction(Prediction each) {
        ObjectNode node = NODES.objectNode();
        node.put("machine", each.machine())
                .put("model", each.model())
                .put("dtype", name(each.dtype()))
                .put("weight_bytes", each.weightBytes())
                .put("fits", each.fits());
        number(node, Prediction.DECODE.name() + "_tokens_per_s", each.decodeTokensPerSecond());
        number(node, Prediction.PREFILL.name() + "_tokens_per_s", each.prefillTokensPerSecond());
        return node;
    }

    private static String name(DType dtype) {
        return dtype.toString().toLowerCase(Locale.ROOT);
    }

    private static void putLimits(ObjectNode node, Limits limits) {
        number(node, "read_limit_gb_per_s", limits.readBytesPerSecond() / GIGA);
        number(node, "peak_gflop_per_s", limits.operationsPerSecond() / GIGA);
    }

    private static ObjectNode putSamples(ObjectNode node, BenchRow row) {
        ArrayNode samples = node.putArray(SAMPLES);
        row.speed().values().forEach(each -> samples.add(rounded(each)));
        return node;
    }

    private static void putChange(ObjectNode node, Optional<Change> change) {
        if (change.isPresent()) {
            number(node, "ratio_to_earlier", change.get().ratio());
            node.put("change", change.get().verdict().toString());
        } else {
            node.putNull("ratio_to_earlier").put("change", "new");
        }
    }

    /** Null for what is not a number, as where an engine has no limit that is known. */
    static void number(ObjectNode node, String field, double value) {
        if (Double.isFinite(value)) {
            node.put(field, rounded(value));
        } else {
            node.putNull(field);
        }
    }

    private static double rounded(double value) {
        return new BigDecimal(value).round(DIGITS).doubleValue();
    }
}
