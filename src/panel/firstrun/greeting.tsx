import * as React from 'react';

import type { ModelSetup } from '../../state/modelsetup';
import { StarterPrompts } from '../composer/starterprompts';
import { lazyComponent } from '../../ui/lazycomponent';
import { usePanel } from '../../ui/services';

const Recent = lazyComponent(
  async () => (await import('./recentconversations')).RecentConversations
);

/**
 * A few words, things to begin with, and what one was at.
 */
export function Greeting({
  setup
}: {
  setup: ModelSetup & { kind: 'chosen' };
}): JSX.Element {
  const { openSettings, trans } = usePanel();
  return (
    <section
      className="jp-hdspAgent-greeting"
      aria-label={trans.__('Start a conversation')}
    >
      <h3 className="jp-hdspAgent-card-title">
        {trans.__('What are we working on?')}
      </h3>
      <p>
        {trans.__(
          'The agent reads, edits and runs your notebooks. It asks before it acts, and you can undo what it did.'
        )}
      </p>
      <StarterPrompts />
      <Recent />
      <p className="jp-hdspAgent-greeting-model">
        {setup.model === null
          ? trans.__('Model: the default of %1', setup.provider)
          : trans.__('Model: %1 (%2)', setup.model, setup.provider)}{' '}
        <button
          type="button"
          className="jp-hdspAgent-link"
          onClick={() => openSettings('models')}
        >
          {trans.__('Change the model')}
        </button>
      </p>
    </section>
  );
}
