/**
 * Whether stories go on for as long as they can: `make test-long` sets it.
 */
export const IS_LONG = Boolean(process.env.HDSP_AGENT_LONG_TESTS);

/**
 * The mark of stories that take part in `make test-long` alone: most of what they
 * show, others show too.
 */
export const LONG_ONLY = '@long';
