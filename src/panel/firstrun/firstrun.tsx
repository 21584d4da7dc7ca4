import * as React from 'react';

import type { ModelSetup } from '../../state/modelsetup';
import { modelSetup } from '../../state/modelsetup';
import { lazyComponent } from '../../ui/lazycomponent';
import { useStore } from '../../ui/hooks';
import { ConversationOffer } from '../notebookconversation/conversationoffer';
import { usePanel } from '../../ui/services';
import { Greeting } from './greeting';

const Setup = lazyComponent(
  async () => (await import('./setupsteps')).SetupSteps
);

/**
 * What an empty panel shows: until a model is set up, how to set one up; then
 * how to begin.
 */
export function FirstRun(): JSX.Element | null {
  const { store, trans } = usePanel();
  const state = useStore(store, ({ state }) => state);
  const conversations = useStore(store, ({ conversations }) => conversations);
  // While a person is at it, a profile that could be used is not the end of it yet.
  const [isAtIt, setAtIt] = React.useState(false);
  if (state === null) {
    return null;
  }
  const setup = modelSetup(state);
  const why = hindrance(setup);
  return (
    <div className="jp-hdspAgent-firstRun">
      {state.currentTaskId === undefined && <ConversationOffer />}
      {isAtIt || why !== null ? (
        <Setup hindrance={why} onBusy={setAtIt} />
      ) : (
        setup.kind === 'chosen' &&
        state.currentTaskId === undefined && <Greeting setup={setup} />
      )}
      {conversations === 'unsupported' && (
        <p className="jp-hdspAgent-hint">
          {trans.__(
            'This server cannot start conversations. You can read the existing ones.'
          )}
        </p>
      )}
    </div>
  );
}

/**
 * Why there is no model to talk to.
 */
export type SetupBlocker = 'none' | 'keyMissing' | 'notAllowed';

/**
 * What hinders; `null` if nothing does, as far as anybody knows.
 */
function hindrance(setup: ModelSetup): SetupBlocker | null {
  if (setup.kind === 'none') {
    return 'none';
  }
  if (!setup.allowed) {
    return 'notAllowed';
  }
  return setup.isKeyMissing ? 'keyMissing' : null;
}
