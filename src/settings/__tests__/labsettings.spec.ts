import { nullTranslator } from '@jupyterlab/translation';
import { FormRendererRegistry } from '@jupyterlab/ui-components';
import { act, createElement } from 'react';
import { createRoot } from 'react-dom/client';

import { addSettingsLink } from '../labsettings';

const schema = jest.requireActual<{
  readonly properties: Readonly<
    Record<string, { readonly description: string }>
  >;
}>('../../../labextension/schema/commands.json');

declare const globalThis: { IS_REACT_ACT_ENVIRONMENT?: boolean };

it('Lab’s Settings Editor should lead to our settings', () => {
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  const registry = new FormRendererRegistry();
  const open = jest.fn();
  addSettingsLink(registry, nullTranslator.load('hdsp_agent'), open);
  const [[id, renderer]] = Object.entries(registry.renderers);
  const field = id.replace('hdsp-agent:commands.', '');
  const host = document.createElement('div');
  const root = createRoot(host);
  act(() =>
    root.render(
      createElement(
        renderer.fieldRenderer as React.FC<{ readonly schema: object }>,
        {
          schema: schema.properties[field]
        }
      )
    )
  );
  expect(host.textContent).toContain(schema.properties[field].description);
  host.querySelector('button')?.click();
  expect(open).toHaveBeenCalledTimes(1);
  act(() => root.unmount());
  globalThis.IS_REACT_ACT_ENVIRONMENT = false;
});
