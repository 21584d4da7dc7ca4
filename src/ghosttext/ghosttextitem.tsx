import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import * as React from 'react';

import { errorText } from '../errors';
import type { AgentStore } from '../state/store';
import { CommandIDs } from '../ui/commandids';
import { useStore } from '../ui/hooks';
import type { GhostTextProvider } from './ghosttextprovider';

interface IOptions {
  readonly commands: CommandRegistry;
  readonly provider: GhostTextProvider;
  readonly store: AgentStore;
  readonly trans: TranslationBundle;
}

/**
 * Says in the status bar whether there is ghost text, and switches it.
 */
export class GhostTextItem extends ReactWidget {
  constructor(options: IOptions) {
    super();
    this._options = options;
    this.addClass('jp-hdspAgent-status');
  }

  protected render(): JSX.Element {
    return <Switch {...this._options} />;
  }

  private readonly _options: IOptions;
}

function Switch({ commands, provider, store, trans }: IOptions): JSX.Element {
  const isOn = useStore(
    store,
    ({ state }) => state?.settings?.ghostTextEnabled === true
  );
  const subscribe = React.useCallback(
    (listener: () => void) => {
      provider.changed.connect(listener);
      return () => void provider.changed.disconnect(listener);
    },
    [provider]
  );
  const problem = React.useSyncExternalStore(subscribe, () => provider.problem);
  const label = !isOn
    ? trans.__('Ghost text off')
    : problem === null
      ? trans.__('Ghost text on')
      : trans.__('No ghost text');
  const title = !isOn
    ? trans.__('Click to show suggestions in grey as you type.')
    : problem === null
      ? trans.__('Click to turn suggestions off.')
      : problem.code === 'model_error'
        ? trans.__(
            'The model did not answer. It is asked again while you type. If that does not help, choose another profile for ghost text.'
          )
        : errorText(trans, problem);
  return (
    <button
      type="button"
      className="jp-hdspAgent-status-button"
      aria-pressed={isOn}
      title={title}
      onClick={() => void commands.execute(CommandIDs.toggleGhostText)}
    >
      <span>{label}</span>
    </button>
  );
}
