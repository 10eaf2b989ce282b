package io.github.tornadotransformers.taskgraphs.graphs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.tornadotransformers.taskgraphs.memory.Scalar;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeviceGraphTest {
    private static List<DeviceTask> tasks(int count, int arguments) {
        Kernel none = new Kernel() {};
        return Collections.nCopies(
                count,
                new DeviceTask(
                        "task",
                        1,
                        DeviceTask.GROUP,
                        none,
                        Collections.nCopies(arguments, Scalar.value(0)),
                        (_, _, _) -> {}));
    }

    private static List<DeviceTask> with(List<DeviceTask> tasks, List<DeviceTask> more) {
        List<DeviceTask> all = new ArrayList<>(tasks);
        all.addAll(more);
        return all;
    }

    /** 126 tasks of ten arguments take 126 * (15 + 10 * 5) = 8190 of the 8192 bytes; another argument is five more. */
    @Test
    void aDescriptionHasABound() {
        assertThat(DeviceGraph.fits(tasks(126, 10))).isTrue();
        assertThat(DeviceGraph.fits(with(tasks(125, 10), tasks(1, 11)))).isFalse();
        assertThat(DeviceGraph.fits(with(tasks(126, 10), tasks(1, 0)))).isFalse();
    }

    @Test
    void soDoTasks() {
        assertThat(DeviceGraph.fits(tasks(256, 3))).isTrue();
        assertThat(DeviceGraph.fits(tasks(257, 3))).isFalse();
    }
}
