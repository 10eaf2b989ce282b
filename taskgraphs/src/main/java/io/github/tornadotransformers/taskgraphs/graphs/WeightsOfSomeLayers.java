package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import io.github.tornadotransformers.models.program.Block;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.Weight;
import io.github.tornadotransformers.taskgraphs.devices.DeviceException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A device's arrays hold a weight of all layers of a group: what only some of them have does not lie there. */
final class WeightsOfSomeLayers {
    private WeightsOfSomeLayers() {}

    /** @throws DeviceException naming a weight that only some kinds of layers have */
    static void refuse(Program program) {
        weightOfSome(program.kinds()).ifPresent(weight -> {
            throw new DeviceException(Wording.of(
                    "only some layers of this model have %s, which a device cannot hold yet: use %s host",
                    weight.name(), Term.ENGINE));
        });
    }

    private static Optional<Weight> weightOfSome(List<Block> kinds) {
        return kinds.stream()
                .flatMap(WeightsOfSomeLayers::weights)
                .filter(weight ->
                        !kinds.stream().allMatch(block -> weights(block).anyMatch(weight::equals)))
                .findFirst();
    }

    private static Stream<Weight> weights(Block block) {
        return block.ops().stream().flatMap(op -> op.weights().stream());
    }
}
