package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.chat.ChatMessage;
import io.github.tornadotransformers.models.chat.ChatOptions;
import io.github.tornadotransformers.models.chat.JsonValues;
import io.github.tornadotransformers.models.generation.LogitChanges;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What {@code /v1/chat/completions} and {@code /v1/completions} are asked for.
 *
 * @param model empty: the first one
 * @param messages of a chat; empty: prompts are continued
 * @param prompts texts, or ids
 * @param maxTokens of an answer; empty: as the context has room
 * @param choices answers to each prompt
 * @param topLogprobs how many of the likeliest tokens are told with each token; empty: none, and no token's probability
 * @param receipt whether answers bring a receipt
 */
record AnswerRequest(
        Optional<String> model,
        Optional<List<ChatMessage>> messages,
        ChatOptions chat,
        List<Prompt> prompts,
        SamplingOptions sampling,
        OptionalInt maxTokens,
        List<String> stop,
        int choices,
        boolean stream,
        boolean streamUsage,
        OptionalInt topLogprobs,
        boolean echo,
        boolean receipt) {
    private static final int MOST_CHOICES = 128;
    private static final int MOST_LOGPROBS = 20;
    private static final int MOST_STOPS = 16;
    /** OpenAI's. */
    private static final int DEFAULT_COMPLETION_TOKENS = 16;

    /** A text, or ids. */
    record Prompt(Optional<String> text, int[] ids) {}

    /** @throws ApiException if a field is wrong, or asks for what is not done */
    static AnswerRequest chat(JsonNode json) {
        Fields fields = Fields.of(json);
        List<ChatMessage> messages = messages(fields);
        requireNothingElse(fields);
        OptionalInt limit = tokens(fields, "max_completion_tokens");
        OptionalInt older = tokens(fields, "max_tokens");
        OptionalInt logprobs = OptionalInt.empty();
        int top = fields.whole("top_logprobs", 0, 0, MOST_LOGPROBS);
        if (fields.flag("logprobs", false)) {
            logprobs = OptionalInt.of(top);
        } else if (top > 0) {
            throw ApiException.invalid("top_logprobs", "top_logprobs is given without logprobs: true");
        }
        Map<String, Object> variables = new LinkedHashMap<>();
        fields.field("chat_template_kwargs").ifPresent(given -> {
            if (!given.isObject()) {
                throw fields.wrong("chat_template_kwargs", given, "an object");
            }
            variables.putAll(JsonValues.object(given));
        });
        return finished(
                fields,
                Optional.of(messages),
                new ChatOptions(true, Optional.empty(), variables),
                List.of(),
                limit.isPresent() ? limit : older,
                logprobs,
                false);
    }

    /** @throws ApiException if a field is wrong, or asks for what is not done */
    static AnswerRequest completion(JsonNode json) {
        Fields fields = Fields.of(json);
        List<Prompt> prompts = prompts(fields.require("prompt", "a text, token ids, or a list of these"));
        OptionalInt tokens = tokens(fields, "max_tokens");
        int logprobs = fields.whole("logprobs", -1, 0, MOST_LOGPROBS);
        if (fields.whole("best_of", 1, 1, MOST_CHOICES) != 1) {
            throw ApiException.unsupported("best_of", "best_of is not done by this server: n gives several answers");
        }
        if (fields.text("suffix").filter(text -> !text.isEmpty()).isPresent()) {
            throw ApiException.unsupported("suffix", "suffix is not done by this server");
        }
        boolean echo = fields.flag("echo", false);
        return finished(
                fields,
                Optional.empty(),
                ChatOptions.DEFAULT,
                prompts,
                tokens.isPresent() ? tokens : OptionalInt.of(DEFAULT_COMPLETION_TOKENS),
                logprobs < 0 ? OptionalInt.empty() : OptionalInt.of(logprobs),
                echo);
    }

    private static AnswerRequest finished(
            Fields fields,
            Optional<List<ChatMessage>> messages,
            ChatOptions chat,
            List<Prompt> prompts,
            OptionalInt tokens,
            OptionalInt logprobs,
            boolean echo) {
        boolean stream = fields.flag("stream", false);
        Optional<Fields> streaming = fields.object("stream_options");
        boolean usage = streaming.isPresent() && streaming.get().flag("include_usage", false);
        streaming.ifPresent(options -> {
            options.ignore("include_obfuscation");
            options.requireNoOthers();
            if (!stream) {
                throw ApiException.invalid("stream_options", "stream_options is given without stream: true");
            }
        });
        List<String> stop = fields.texts("stop");
        if (stop.size() > MOST_STOPS || stop.contains("")) {
            throw ApiException.invalid(
                    "stop",
                    "stop has " + stop.size() + " texts, or an empty one, expected at most " + MOST_STOPS
                            + " that are not empty");
        }
        AnswerRequest request = new AnswerRequest(
                fields.text("model"),
                messages,
                chat,
                prompts,
                sampling(fields),
                tokens,
                stop,
                fields.whole("n", 1, 1, MOST_CHOICES),
                stream,
                usage,
                logprobs,
                echo,
                fields.flag("receipt", false));
        fields.ignore(
                "user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "service_tier");
        fields.requireNoOthers();
        return request;
    }

    private static SamplingOptions sampling(Fields fields) {
        OptionalLong seed = fields.whole("seed");
        Map<Integer, Double> bias = new TreeMap<>();
        fields.field("logit_bias")
                .ifPresent(given -> given.properties().forEach(entry -> {
                    try {
                        bias.put(
                                Integer.valueOf(entry.getKey()),
                                entry.getValue().doubleValue());
                    } catch (NumberFormatException e) {
                        throw fields.wrong("logit_bias", given, "an object of token ids and numbers");
                    }
                }));
        try {
            SamplingOptions sampling = new SamplingOptions(
                    fields.number("temperature", 1),
                    fields.whole("top_k", 0, 0, Integer.MAX_VALUE),
                    fields.number("top_p", 1),
                    fields.number("min_p", 0),
                    fields.number("repetition_penalty", 1),
                    seed.orElseGet(() -> ThreadLocalRandom.current().nextLong(Integer.MAX_VALUE)),
                    false);
            return sampling.withChanges(new LogitChanges(
                    fields.number("frequency_penalty", 0), fields.number("presence_penalty", 0), bias));
        } catch (InvalidRequest e) {
            throw refused(e);
        }
    }

    /** In the protocol's words. */
    static ApiException refused(InvalidRequest e) {
        String[] param = new String[1];
        String message = e.message(term -> {
            String name = switch (term) {
                case TEMPERATURE -> "temperature";
                case TOP_K -> "top_k";
                case TOP_P -> "top_p";
                case MIN_P -> "min_p";
                case REPETITION_PENALTY -> "repetition_penalty";
                case FREQUENCY_PENALTY -> "frequency_penalty";
                case PRESENCE_PENALTY -> "presence_penalty";
                case LOGIT_BIAS -> "logit_bias";
                case STOP_TEXTS -> "stop";
                case MAX_TOKENS -> "max_tokens";
                default -> term.toString();
            };
            param[0] = name;
            return name;
        });
        return ApiException.invalid(param[0], message);
    }

    private static OptionalInt tokens(Fields fields, String name) {
        int tokens = fields.whole(name, 0, 1, Integer.MAX_VALUE);
        return tokens == 0 ? OptionalInt.empty() : OptionalInt.of(tokens);
    }

    /** What OpenAI's models do, and this server does not. */
    private static void requireNothingElse(Fields fields) {
        for (String name : List.of("tools", "functions")) {
            Optional<JsonNode> given = fields.field(name);
            if (given.isPresent() && !given.get().isEmpty()) {
                throw ApiException.unsupported(name, name + " is not done by this server yet");
            }
        }
        for (String name : List.of("tool_choice", "function_call")) {
            Optional<String> choice = fields.field(name).map(JsonNode::asText);
            if (choice.isPresent()
                    && !choice.get().equals("none")
                    && !choice.get().equals("auto")) {
                throw ApiException.unsupported(name, name + " is not done by this server yet");
            }
        }
        fields.ignore("parallel_tool_calls");
        Optional<Fields> format = fields.object("response_format");
        if (format.isPresent() && !format.get().text("type").orElse("text").equals("text")) {
            throw ApiException.unsupported("response_format", "of response_format only text is done by this server");
        }
        if (fields.flag("store", false)) {
            throw ApiException.unsupported("store", "store is not done by this server: nothing is kept");
        }
        Optional<JsonNode> modalities = fields.field("modalities");
        if (modalities.isPresent() && !modalities.get().toString().equals("[\"text\"]")) {
            throw ApiException.unsupported("modalities", "of modalities only text is done by this server");
        }
    }

    static List<ChatMessage> messages(Fields fields) {
        JsonNode list = fields.require("messages", "a list of messages");
        if (!list.isArray() || list.isEmpty()) {
            throw fields.wrong("messages", list, "a list of messages, of which there is at least one");
        }
        List<ChatMessage> messages = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            messages.add(message(list.get(i), "messages[" + i + "]"));
        }
        return messages;
    }

    private static ChatMessage message(JsonNode json, String name) {
        if (!json.isObject() || !json.path("role").isTextual()) {
            throw ApiException.invalid(name, name + " is " + Fields.excerpt(json) + ", expected an object with a role");
        }
        JsonNode content = json.path("content");
        if (!content.isArray()) {
            if (!content.isTextual() && !content.isNull() && !content.isMissingNode()) {
                throw ApiException.invalid(
                        name + ".content", name + ".content is " + Fields.excerpt(content) + ", expected a text");
            }
            return ChatMessage.ofJson(json);
        }
        StringBuilder text = new StringBuilder();
        for (JsonNode part : content) {
            if (!part.path("type").asText().equals("text") || !part.path("text").isTextual()) {
                throw ApiException.unsupported(
                        name + ".content",
                        name + ".content has " + Fields.excerpt(part) + ", expected parts that are text");
            }
            text.append(part.get("text").textValue());
        }
        Map<String, Object> values = JsonValues.object(json);
        values.put("content", text.toString());
        return new ChatMessage(values);
    }

    /** A text, ids, or a list of these. */
    static List<Prompt> prompts(JsonNode prompt) {
        if (prompt.isTextual()) {
            return List.of(new Prompt(Optional.of(prompt.textValue()), new int[0]));
        }
        if (!prompt.isArray() || prompt.isEmpty()) {
            throw ApiException.invalid(
                    "prompt",
                    "prompt is " + Fields.excerpt(prompt) + ", expected a text, token ids, or a list of these");
        }
        if (prompt.get(0).isNumber()) {
            return List.of(new Prompt(Optional.empty(), Fields.ids(prompt, "prompt")));
        }
        List<Prompt> prompts = new ArrayList<>();
        for (JsonNode each : prompt) {
            if (each.isNumber()
                    || (each.isArray() && (each.isEmpty() || !each.get(0).isNumber()))) {
                throw ApiException.invalid(
                        "prompt", "prompt has " + Fields.excerpt(each) + ", expected a text or token ids");
            }
            prompts.addAll(prompts(each));
        }
        return prompts;
    }
}
