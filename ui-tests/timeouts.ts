import * as utils from '@jupyterlab/galata/lib/utils';

/**
 * How long what must happen may take; a machine that is quick does not use it.
 */
const TIMEOUT = 60_000;

const galata: { waitForCondition: typeof utils.waitForCondition } = utils;
const { waitForCondition } = galata;

// Galata gives up after fifteen seconds; a crowded machine loads no page in that.
galata.waitForCondition = (holds, timeout = TIMEOUT) =>
  waitForCondition(holds, timeout);
