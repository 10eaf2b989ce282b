package io.github.tornadotransformers.models.rope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.ConfigReader;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RopeFieldsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONTEXT = 2048;
    private static final int HEAD_DIM = 8;
    private static final String LISTS = "'short_factor':[1,1.5,2,2.5],'long_factor':[3,4,5,6]";

    private static RopeFields fields(String config) {
        try {
            return new RopeFields(
                    new ConfigReader(Path.of("config.json"), JSON.readTree(config.replace('\'', '"'))),
                    CONTEXT,
                    HEAD_DIM);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(config, e);
        }
    }

    private static Rope parsed(String config) {
        return fields(config).allowPartial().parse(10_000);
    }

    private static RopeScaling scaling(String section) {
        return parsed("{'rope_scaling':{" + section + "}}").scaling();
    }

    private static void assertRefused(String config, String words) {
        assertThatThrownBy(() -> parsed(config))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(words);
    }

    @Test
    void yarnWithoutMoreHasItsPapersNumbers() {
        assertThat(scaling("'type':'yarn','factor':4,'original_max_position_embeddings':512"))
                .isEqualTo(new RopeScaling.Yarn(4, 32, 1, 512, true, 0.1 * Math.log(4) + 1));
    }

    @Test
    void yarnMaySayEverything() {
        assertThat(scaling("'rope_type':'yarn','factor':4,'beta_fast':20,'beta_slow':2,'truncate':false,"
                        + "'attention_factor':1.25,'original_max_position_embeddings':512"))
                .isEqualTo(new RopeScaling.Yarn(4, 20, 2, 512, false, 1.25));
    }

    @Test
    void yarnsFactorIsThatOfTheContextsUnlessGiven() {
        assertThat(scaling("'type':'yarn','original_max_position_embeddings':256"))
                .isEqualTo(new RopeScaling.Yarn(8, 32, 1, 256, true, 0.1 * Math.log(8) + 1));
    }

    /** DeepSeek's two weights, of which one alone says nothing. */
    @Test
    void yarnsMagnitudeIsTheRatioOfTwoWeights() {
        String section = "'type':'yarn','factor':4,'original_max_position_embeddings':512,'mscale':0.7";
        assertThat(scaling(section + ",'mscale_all_dim':0.3").magnitude())
                .isEqualTo((0.1 * 0.7 * Math.log(4) + 1) / (0.1 * 0.3 * Math.log(4) + 1));
        assertThat(scaling(section).magnitude()).isEqualTo(0.1 * Math.log(4) + 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"'type':'longrope'", "'type':'su'", "'rope_type':'longrope'", "'type':'yarn'"})
    void longRopeIsReadInEverySpelling(String kind) {
        assertThat(scaling(kind + "," + LISTS + ",'original_max_position_embeddings':512,'attention_factor':1.5"))
                .isEqualTo(
                        new RopeScaling.LongRope(List.of(1.0, 1.5, 2.0, 2.5), List.of(3.0, 4.0, 5.0, 6.0), 512, 1.5));
    }

    /** Phi-3 says the original context beside the section; what the section says goes first. */
    @Test
    void theOriginalContextMayStandBesideTheSection() {
        String section = "'rope_scaling':{'type':'longrope'," + LISTS;
        assertThat(parsed("{'original_max_position_embeddings':512," + section + "}}")
                        .scaling())
                .isEqualTo(new RopeScaling.LongRope(
                        List.of(1.0, 1.5, 2.0, 2.5),
                        List.of(3.0, 4.0, 5.0, 6.0),
                        512,
                        Math.sqrt(1 + Math.log(4) / Math.log(512))));
        RopeScaling.LongRope inner = (RopeScaling.LongRope) parsed("{'original_max_position_embeddings':512," + section
                        + ",'original_max_position_embeddings':1024}}")
                .scaling();
        assertThat(inner.originalContextLength()).isEqualTo(1024);
        RopeScaling.LongRope none =
                (RopeScaling.LongRope) parsed("{" + section + "}}").scaling();
        assertThat(none.originalContextLength()).isEqualTo(CONTEXT);
        assertThat(none.magnitude()).isOne();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'short_factor':[1,1,1],'long_factor':[1,1,1,1] | short_factor has 3 numbers, expected 4, one for each pair",
                "'short_factor':[1,1,1,1],'long_factor':[1,1,1,1,1] | long_factor has 5 numbers, expected 4, one for each",
                "'short_factor':[1,1,0,1],'long_factor':[1,1,1,1] | short_factor is [1,1,0,1], expected a list of numbers above 0",
                "'short_factor':1,'long_factor':[1,1,1,1] | short_factor is 1, expected a list of numbers above 0",
            })
    void longRopeNeedsANumberForEachPair(String lists, String words) {
        assertRefused("{'rope_scaling':{'type':'longrope'," + lists + "}}", words);
    }

    @Test
    void headsMayBeRotatedInPart() {
        assertThat(parsed("{'partial_rotary_factor':0.5}").dimensions()).isEqualTo(4);
        assertThat(parsed("{'rope_parameters':{'partial_rotary_factor':0.75}}").dimensions())
                .isEqualTo(6);
        assertThat(parsed("{'partial_rotary_factor':1}").dimensions()).isEqualTo(HEAD_DIM);
        assertThat(parsed("{'partial_rotary_factor':0.25}").dimensions()).isEqualTo(2);
        assertThat(parsed("{}").dimensions()).isEqualTo(HEAD_DIM);
    }

    @ParameterizedTest
    @CsvSource({"0.1, 0", "0.4, 3", "1.25, 10"})
    void aPartThatIsNotPairsIsRefused(double fraction, int dimensions) {
        assertRefused(
                "{'partial_rotary_factor':" + fraction + "}",
                "partial_rotary_factor is " + fraction + ", which rotates " + dimensions
                        + " of 8 elements of a head, expected an even number of 2 to 8");
    }

    @Test
    void twoPartsThatDifferAreRefused() {
        assertRefused(
                "{'partial_rotary_factor':0.5,'rope_parameters':{'partial_rotary_factor':0.75}}",
                "partial_rotary_factor is 0.5, but 0.75 in rope_parameters");
        assertRefused("{'rope_theta':5,'rope_scaling':{'rope_theta':6}}", "rope_theta is 5.0, but 6.0 in rope_scaling");
    }

    @Test
    void theSameTwiceIsTaken() {
        assertThat(parsed("{'rope_theta':5,'rope_parameters':{'rope_theta':5}}").theta())
                .isEqualTo(5);
        assertThat(parsed("{'rope_scaling':{'type':'linear','factor':2},"
                        + "'rope_parameters':{'rope_type':'linear','factor':2,'rope_theta':7}}"))
                .isEqualTo(new Rope(7, HEAD_DIM, new RopeScaling.Linear(2)));
    }

    @Test
    void aKindOfLayerHasItsSection() {
        RopeFields fields = fields("{'rope_parameters':{'full_attention':{'rope_type':'linear','factor':8},"
                + "'sliding_attention':{'rope_theta':77}}}");
        assertThat(fields.parseKind("full_attention", 10_000))
                .contains(new Rope(10_000, HEAD_DIM, new RopeScaling.Linear(8)));
        assertThat(fields.parseKind("sliding_attention", 10_000))
                .contains(new Rope(77, HEAD_DIM, new RopeScaling.None()));
        assertThat(fields.parseKind("other", 10_000)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'type':'linear','factor':2",
                "'type':'llama3','factor':8,'low_freq_factor':1,'high_freq_factor':4,'original_max_position_embeddings':32",
                "'type':'yarn','factor':4,'beta_fast':20,'beta_slow':2,'truncate':false,'original_max_position_embeddings':512",
                "'type':'longrope'," + LISTS + ",'original_max_position_embeddings':512",
                "'type':'default'",
            })
    void whatIsDescribedIsParsed(String section) {
        for (String partial : new String[] {"1", "0.5"}) {
            String whole = partial.equals("1")
                    ? section
                    : section.replaceAll("'(short|long)_factor':\\[(.+?),.+?,(.+?),.+?\\]", "'$1_factor':[$2,$3]");
            Rope rope = parsed("{'partial_rotary_factor':" + partial + ",'rope_scaling':{" + whole + "}}");
            ObjectNode described = JSON.createObjectNode();
            RopeFields.describe(rope, HEAD_DIM, described);
            assertThat(parsed(described.toString())).isEqualTo(rope);
            assertThat(described.has("partial_rotary_factor")).isEqualTo(!partial.equals("1"));
            assertThat(described.has("rope_scaling")).isEqualTo(!section.contains("default"));
        }
    }
}
