/**
 * Whether stories go on for as long as they can: `make test-long` sets it.
 */
export const IS_LONG = Boolean(process.env.HDSP_AGENT_LONG_TESTS);
