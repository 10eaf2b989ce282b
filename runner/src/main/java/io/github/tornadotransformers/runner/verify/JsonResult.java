package io.github.tornadotransformers.runner.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.checkpoint.NonFiniteTensor;
import io.github.tornadotransformers.models.generation.TraceListener;
import java.util.Locale;

/** A {@link VerifyResult} as one JSON object. */
public final class JsonResult {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private JsonResult() {}

    public static ObjectNode of(VerifyResult result) {
        ObjectNode object = NODES.objectNode();
        object.put("subject", result.subject())
                .put("agrees", result.agrees())
                .put("finite", result.isFinite())
                .put("steps", result.steps());
        ArrayNode broken = object.putArray("broken_tensors");
        result.brokenTensors().forEach(each -> broken.add(tensor(each)));
        result.promptIds().forEach(object.putArray("prompt_ids")::add);
        ArrayNode runs = object.putArray("engines");
        result.runs()
                .forEach(run -> runs.add(NODES.objectNode()
                        .put("engine", run.engine())
                        .put("device", run.device())
                        .put("dtype", run.dtype())
                        .put("load_ms", run.loadMillis())
                        .put("forward_ms", run.forwardMillis())));
        ArrayNode comparisons = object.putArray("comparisons");
        result.comparisons().forEach(each -> comparisons.add(comparison(each)));
        ObjectNode kernels = object.putObject("kernels");
        result.kernels().forEach((engine, verdicts) -> {
            ArrayNode array = kernels.putArray(engine);
            verdicts.forEach(verdict -> array.add(kernel(verdict)));
        });
        ObjectNode published = object.putObject("published");
        result.published().forEach((engine, outcomes) -> {
            ArrayNode array = published.putArray(engine);
            outcomes.forEach(outcome -> array.add(NODES.objectNode()
                    .put("fact", outcome.fact())
                    .put("holds", outcome.holds())
                    .put("finding", outcome.finding().orElse(null))));
        });
        ObjectNode environment = object.putObject("environment");
        result.environment().forEach(environment::put);
        return object;
    }

    private static ObjectNode tensor(NonFiniteTensor broken) {
        ObjectNode object = NODES.objectNode()
                .put("file", broken.tensor().file().toString())
                .put("tensor", broken.tensor().name())
                .put("count", broken.count())
                .put("index", broken.index());
        number(object, "value", broken.value());
        return object;
    }

    private static ObjectNode comparison(Comparison comparison) {
        ObjectNode object = NODES.objectNode();
        object.put("reference", comparison.reference())
                .put("engine", comparison.engine())
                .put("tolerance", comparison.tolerance().toString())
                .put("agrees", comparison.agrees());
        comparison.first().ifPresent(first -> {
            ObjectNode node = object.putObject("first_difference");
            point(node.put("step", first.step()), first.point())
                    .put("position", first.position())
                    .put("index", first.index());
            number(node, "expected", first.expected());
            number(node, "actual", first.actual());
        });
        comparison.firstNonFinite().ifPresent(value -> {
            ObjectNode node = object.putObject("first_not_finite");
            point(node.put("step", value.step()), value.point())
                    .put("position", value.position())
                    .put("index", value.index());
            number(node, "value", value.value());
        });
        ArrayNode points = object.putArray("points");
        comparison.points().forEach((point, each) -> points.add(differences(point(NODES.objectNode(), point), each)));
        return object;
    }

    private static ObjectNode point(ObjectNode object, TracePoint point) {
        if (point.layer() != TraceListener.NO_LAYER) {
            object.put("layer", point.layer());
        }
        return object.put("op", point.op());
    }

    private static ObjectNode kernel(KernelCheck.Verdict verdict) {
        ObjectNode object = NODES.objectNode();
        object.put("kernel", verdict.kernel().name())
                .put("weights", verdict.kernel().dtype().toString().toLowerCase(Locale.ROOT))
                .put("shapes", verdict.cases())
                .put("agrees", verdict.agrees())
                .put("first_wrong", verdict.firstRefused().orElse(null));
        return differences(object, verdict.differences());
    }

    private static ObjectNode differences(ObjectNode object, Differences differences) {
        object.put("elements", differences.elements())
                .put("differing", differences.differing())
                .put("refused", differences.refused());
        if (differences.largestUlps() == Long.MAX_VALUE) {
            object.putNull("largest_ulp");
        } else {
            object.put("largest_ulp", differences.largestUlps());
        }
        number(object, "largest_abs", differences.largestAbsolute());
        number(object, "largest_rel", differences.largestRelative());
        return object;
    }

    /** JSON has no NaN and no infinity: such a number is a string. */
    private static void number(ObjectNode object, String field, double value) {
        if (Double.isFinite(value)) {
            object.put(field, value);
        } else {
            object.put(field, Double.toString(value));
        }
    }
}
