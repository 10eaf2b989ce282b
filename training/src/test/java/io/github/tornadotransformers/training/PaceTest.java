package io.github.tornadotransformers.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class PaceTest {
    private static final long SECOND = 1_000_000_000L;

    private long now = 17 * SECOND;
    private final Pace pace = new Pace();

    private void pause(double seconds) {
        now += (long) (seconds * SECOND);
    }

    private void steps(int count, double seconds) {
        for (int i = 0; i < count; i++) {
            pace.begin(now);
            pause(seconds);
            pace.stepEnded(now);
        }
    }

    @Test
    void theFirstStepsWhileTheCodeIsCompiledDoNotCount() {
        steps(1, 8);
        assertThat(pace.secondsPerStep()).isEqualTo(8);
        steps(59, 0.05);
        assertThat(pace.secondsPerStep()).isCloseTo(0.05, within(1e-9));
        assertThat(pace.secondsFor(400, 0)).isCloseTo(20, within(1e-6));
    }

    @Test
    void itFollowsWhatTheMachineDoesNow() {
        steps(90, 1);
        steps(30, 3);
        assertThat(pace.secondsPerStep()).isCloseTo(3, within(1e-9));
    }

    @Test
    void whatIsNotAStepIsNoStepsTime() {
        steps(4, 1);
        pause(100);
        steps(4, 1);
        assertThat(pace.secondsPerStep()).isEqualTo(1);
    }

    @Test
    void evaluationsAreCountedByThemselves() {
        steps(5, 1);
        pace.begin(now);
        pause(6);
        pace.evaluationEnded(now);
        steps(1, 1);
        assertThat(pace.secondsFor(10, 2)).isEqualTo(10 + 12);
    }
}
