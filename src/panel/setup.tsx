import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ModelSetup } from '../state/setup';
import type { ConversationSupport } from '../state/store';

/**
 * What is set up, what is not, and what to do about it.
 */
export function SetupCard({
  setup,
  conversations,
  onOpenSettings,
  trans
}: SetupCard.IProps): JSX.Element {
  const none = setup.kind === 'none';
  return (
    <section className="jp-hdspAgent-card" aria-label={trans.__('Model')}>
      <h3 className="jp-hdspAgent-card-title">
        {none ? trans.__('No model is set up yet') : trans.__('Model')}
      </h3>
      {setup.kind === 'none' ? (
        <p>
          {trans.__(
            'The agent needs a language model: one of a provider for which you have a key, or one that runs on this machine.'
          )}
        </p>
      ) : (
        <dl className="jp-hdspAgent-facts">
          <dt>{trans.__('Profile')}</dt>
          <dd>{setup.profile}</dd>
          <dt>{trans.__('Provider')}</dt>
          <dd>
            {setup.allowed
              ? setup.provider
              : trans.__('%1 (not allowed on this server)', setup.provider)}
          </dd>
          <dt>{trans.__('Model')}</dt>
          <dd>{setup.model ?? trans.__('the provider’s default')}</dd>
          <dt>{trans.__('Key')}</dt>
          <dd>{keysLabel(setup.keys, trans)}</dd>
        </dl>
      )}
      <div className="jp-hdspAgent-actions">
        <button
          type="button"
          className={`jp-hdspAgent-button${none ? ' jp-mod-accept' : ''}`}
          onClick={onOpenSettings}
        >
          {none ? trans.__('Set up a model') : trans.__('Change the model')}
        </button>
      </div>
      {conversations === 'unsupported' && (
        <p className="jp-hdspAgent-hint">
          {trans.__(
            'This version connects, and keeps your settings and keys. Conversations with the agent come with a later version.'
          )}
        </p>
      )}
    </section>
  );
}

/**
 * The namespace for `SetupCard` statics.
 */
export namespace SetupCard {
  /**
   * The properties of a setup card.
   */
  export interface IProps {
    readonly setup: ModelSetup;
    readonly conversations: ConversationSupport;
    readonly onOpenSettings: () => void;
    readonly trans: TranslationBundle;
  }
}

function keysLabel(keys: readonly string[], trans: TranslationBundle): string {
  if (keys.length === 0) {
    return trans.__('none stored; a model on this machine may need none');
  }
  return keys
    .map(end => (end ? trans.__('ends in %1', end) : trans.__('stored')))
    .join(', ');
}
