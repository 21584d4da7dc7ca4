import type { TranslationBundle } from '@jupyterlab/translation';
import { PathExt } from '@jupyterlab/coreutils';

import type {
  ConnectedAgentView,
  ConnectSnippetView,
  ConnectWayView,
  McpTestStep
} from '../../generated/rest';
import { plainName } from '../../ui/texts/visibletext';

/**
 * What a connected agent does now.
 */
export function activityText(
  { activity, notebook }: ConnectedAgentView,
  trans: TranslationBundle
): string {
  switch (activity) {
    case 'working':
      return notebook
        ? trans.__('Working on %1', plainName(PathExt.basename(notebook)))
        : trans.__('Working');
    case 'waiting':
      return trans.__('Waiting for you');
    case 'idle':
      return trans.__('Idle');
  }
}

/**
 * Where a program runs that connects in this way.
 */
export function wayText(
  kind: ConnectWayView['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'local':
      return trans.__('On the machine Jupyter runs on');
    case 'http':
      return trans.__('On another machine');
  }
}

/**
 * What is done with a text that is copied.
 */
export function snippetText(
  { kind, file }: ConnectSnippetView,
  trans: TranslationBundle
): string {
  return kind === 'command' || file === undefined
    ? trans.__('Run this in a terminal:')
    : file.startsWith('~') || file.startsWith('/')
      ? trans.__('Add this to %1:', file)
      : trans.__("Add this to %1 in your project's folder:", file);
}

/**
 * What one step of a test found.
 */
export function testStepText(
  { step, ok }: McpTestStep,
  tools: number | undefined,
  trans: TranslationBundle
): string {
  switch (step) {
    case 'found':
      return ok
        ? trans.__('A running server was found.')
        : trans.__('No running server was found.');
    case 'reached':
      return ok
        ? trans.__('The server answers.')
        : trans.__('The server does not answer at its own address.');
    case 'signedIn':
      return ok
        ? trans.__('It asks for a login, and accepts yours.')
        : trans.__('The server refuses the login.');
    case 'enabled':
      return ok
        ? trans.__('Other agents may connect.')
        : trans.__('Other agents may not connect now.');
    case 'tools':
      return !ok
        ? trans.__('The server does not list its tools.')
        : tools === undefined
          ? trans.__('It offers its tools.')
          : trans._n('It offers %1 tool.', 'It offers %1 tools.', tools);
  }
}
