import type { IFormRendererRegistry } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

/**
 * The setting in Lab's Settings Editor that leads to our settings.
 */
const FIELD = 'hdsp-agent:commands.settings';

/**
 * Let Lab's Settings Editor lead to our settings, which are not in it: people
 * look for them there.
 */
export function addSettingsLink(
  renderers: IFormRendererRegistry,
  trans: TranslationBundle,
  openSettings: () => void
): void {
  renderers.addRenderer(FIELD, {
    fieldRenderer: ({ schema }) => (
      <div>
        <p>{schema.description}</p>
        <button
          type="button"
          className="jp-mod-styled jp-mod-accept"
          onClick={openSettings}
        >
          {trans.__('Open the Settings of HDSP Agent')}
        </button>
      </div>
    )
  });
}
