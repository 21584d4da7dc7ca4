import * as React from 'react';
import type { Root } from 'react-dom/client';
import { createRoot } from 'react-dom/client';

import { OpenedPanel } from '../../panel/__tests__/openedpanel';
import { PanelContext } from '../services';
import { lazyComponent } from '../lazycomponent';

/** What is fetched. */
function Here(): JSX.Element {
  return React.createElement('p', null, 'It is here.');
}

describe('onDemand', () => {
  let page: OpenedPanel;
  let root: Root;
  let host: HTMLElement;

  beforeEach(() => {
    page = new OpenedPanel();
    host = document.createElement('div');
    root = createRoot(host);
  });

  afterEach(() => {
    page.act(() => root.unmount());
    page.dispose();
  });

  async function show(Content: (props: object) => JSX.Element): Promise<void> {
    await page.settle(() =>
      root.render(
        <PanelContext.Provider value={page.panel.services}>
          <Content />
        </PanelContext.Provider>
      )
    );
    await page.settle();
  }

  it('should show what was fetched by another part of the page already', async () => {
    const fetched = Promise.resolve(Here);
    await show(lazyComponent(() => fetched));
    expect(host.textContent).toBe('It is here.');
  });

  it('should say why something does not come, and fetch it again', async () => {
    let tries = 0;
    await show(
      lazyComponent(() =>
        ++tries === 1
          ? Promise.reject(new Error('The chunk is not there.'))
          : Promise.resolve(Here)
      )
    );
    expect(host.textContent).toContain('The chunk is not there.');
    await page.settle(() => host.querySelector('button')?.click());
    expect(host.textContent).toBe('It is here.');
  });
});
