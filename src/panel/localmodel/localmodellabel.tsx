import * as React from 'react';

import { lazyComponent } from '../../ui/lazycomponent';
import { currentProfile } from '../../state/currentmode';
import { externalAgent } from '../../state/externalagent';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';

const Label = lazyComponent(
  async () => (await import('./limitations')).LimitationsLabel
);

/**
 * Says that an embedded model answers, and what that means; nothing while
 * another one does.
 */
export function LocalModelLabel(): JSX.Element | null {
  const { store } = usePanel();
  const name = useStore(store, ({ state }) => currentProfile(state));
  const profile = useStore(store, ({ state }) =>
    state?.listApiConfigMeta?.find(one => one.name === name)
  );
  const isOurs = useStore(store, store => externalAgent(store) === null);
  return isOurs && profile?.apiProvider === 'local' ? (
    <Label
      key={`${profile.id} ${profile.modelId}`}
      modelId={profile.modelId ?? null}
    />
  ) : null;
}
