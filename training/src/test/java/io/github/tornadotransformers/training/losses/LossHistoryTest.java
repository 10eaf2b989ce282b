package io.github.tornadotransformers.training.losses;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LossHistoryTest {
    @Test
    void theBestIsTheLowestAndTheFirstOfEquals() {
        LossHistory history = new LossHistory();
        assertThat(history.best()).isNull();
        history.addValidation(5, 3);
        assertThat(history.best()).isEqualTo(new LossHistory.Validation(5, 3));
        history.addValidation(10, 2);
        history.addValidation(15, 2.5);
        history.addValidation(20, 2);
        assertThat(history.best()).isEqualTo(new LossHistory.Validation(10, 2));
    }

    @Test
    void aHistoryConsistsOfTheLossesItWasMadeOf() {
        List<LossHistory.Validation> validation = List.of(new LossHistory.Validation(2, 1.5));
        LossHistory history = LossHistory.of(List.of(3.0, 2.0), validation);
        history.addTraining(1.0);
        assertThat(history.training()).containsExactly(3.0, 2.0, 1.0);
        assertThat(history.validation()).isEqualTo(validation);
    }
}
