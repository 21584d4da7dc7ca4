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
  onChooseModel,
  trans
}: SetupCard.IProps): JSX.Element {
  const { title, action, isUsable } = headline(setup, trans);
  return (
    <section className="jp-hdspAgent-card" aria-label={trans.__('Model')}>
      <h3 className="jp-hdspAgent-card-title">{title}</h3>
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
          <dd>{keysLabel(setup, trans)}</dd>
        </dl>
      )}
      <div className="jp-hdspAgent-actions">
        <button
          type="button"
          className={`jp-hdspAgent-button${isUsable ? '' : ' jp-mod-accept'}`}
          onClick={onChooseModel}
        >
          {action}
        </button>
      </div>
      {conversations === 'unsupported' && (
        <p className="jp-hdspAgent-hint">
          {trans.__(
            'This version connects, and keeps your settings and keys. Conversations with the agent come with a later version.'
          )}
        </p>
      )}
      {conversations === 'supported' && (
        <p className="jp-hdspAgent-hint">
          {trans.__(
            'This panel shows conversations; typing into it comes with a later version. Until then “%1” in a terminal starts one.',
            'hdsp-agent run'
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
    readonly onChooseModel: () => void;
    readonly trans: TranslationBundle;
  }
}

/**
 * What the card is about: what hinders most, or the model itself.
 */
function headline(
  setup: ModelSetup,
  trans: TranslationBundle
): { title: string; action: string; isUsable: boolean } {
  if (setup.kind === 'none') {
    return {
      title: trans.__('No model is set up yet'),
      action: trans.__('Set up a model'),
      isUsable: false
    };
  }
  if (setup.isKeyMissing) {
    return {
      title: trans.__('The key for the model is missing'),
      action: trans.__('Add a key'),
      isUsable: false
    };
  }
  return {
    title: trans.__('Model'),
    action: trans.__('Change the model'),
    isUsable: true
  };
}

function keysLabel(
  { keys, isKeyMissing }: ModelSetup & { kind: 'chosen' },
  trans: TranslationBundle
): string {
  if (keys.length === 0) {
    return isKeyMissing
      ? trans.__('none yet')
      : trans.__('none saved; this provider may not need one');
  }
  return keys
    .map(end => (end ? trans.__('ends in %1', end) : trans.__('stored')))
    .join(', ');
}
