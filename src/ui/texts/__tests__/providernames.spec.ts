import { nullTranslator } from '@jupyterlab/translation';

import { PROVIDERS } from '../../../generated/wire';
import { providerName } from '../providernames';

const trans = nullTranslator.load('hdsp_agent');

describe('providerName', () => {
  it('says what kind a provider without a name of its own is', () => {
    expect(providerName('openai', trans)).toBe('OpenAI compatible');
    expect(providerName('local', trans)).toBe('Embedded model');
  });

  it('keeps names', () => {
    expect(providerName('anthropic', trans)).toBe(PROVIDERS.anthropic.name);
    expect(providerName('of tomorrow', trans)).toBe('of tomorrow');
  });
});
