import { nullTranslator } from '@jupyterlab/translation';

import type { ClineMessage } from '../../../../generated/wire';
import type { OpenedPanel } from '../../../__tests__/openedpanel';
import { failureText } from '../../../../modelfailuretexts';
import { ShownRows, USER } from './shownrows';

describe('rows of requests to the model', () => {
  let rows: ShownRows;
  let page: OpenedPanel;

  beforeEach(() => {
    rows = new ShownRows();
    ({ page } = rows);
  });

  afterEach(() => {
    page.dispose();
  });

  describe('errors', () => {
    it('should say what happened and what to do, with the rest folded', async () => {
      await rows.show({
        type: 'ask',
        ask: 'api_req_failed',
        text: '401 Unauthorized\n\nThe key is not valid.\n\n{"error": {"message": "long"}}\n1\n2\n3\n4\n5'
      });
      expect(rows.row(2).textContent).toContain('The model gave no answer');
      expect(rows.row(2).textContent).toContain('401 Unauthorized');
      expect(rows.row(2).textContent).toContain('Try again, or use another');
      expect(rows.row(2).textContent).not.toContain('"error"');
      await rows.click('Open the settings');
      expect(page.openedSettings).toEqual(['models']);
      await rows.click('Details');
      expect(rows.row(2).textContent).toContain('"error"');
    });

    it.each([
      ['overflow', 'Condense the conversation, start a new one'],
      ['rate_limit', 'Wait a moment and try again'],
      // Its own words say already what to do.
      ['authentication', null],
      ['of_a_later_version', 'Try again, or use another model.']
    ])('should advise by the kind of a failure: %s', async (kind, advice) => {
      await rows.show({
        type: 'ask',
        ask: 'api_req_failed',
        text: 'The provider says 401, 429 and quota.',
        modelFailure: { kind }
      });
      expect(
        page.find('.jp-hdspAgent-chat-problem-advice')?.textContent ?? null
      ).toEqual(advice && expect.stringContaining(advice));
    });

    it('should say in the language of the person why it failed', () => {
      const foreign = {
        ...nullTranslator.load('hdsp_agent'),
        __: (text: string, ...values: string[]) =>
          `«${values.reduce((all, value, at) => all.replace(`%${at + 1}`, value), text)}»`
      };
      const kinds = [
        'overflow',
        'overflow_output_budget',
        'output_cap',
        'payload_too_large',
        'tpm_request_too_large',
        'rate_limit',
        'quota',
        'budget',
        'empty_content',
        'tool_pairing',
        'authentication',
        'permission',
        'model_not_found',
        'content_filter',
        'overloaded',
        'network',
        'timeout',
        'broken_stream'
      ];
      for (const kind of kinds) {
        const text = failureText({ kind, parts: {} }, 'English.', foreign);
        expect(text).toMatch(/^«[^«]+»$/);
      }
      expect(
        failureText(
          {
            kind: 'authentication',
            parts: { status: 401, particular: 'No key.', raw: 'wrong' }
          },
          'English.',
          foreign
        )
      ).toMatch(
        /^««The provider does not.*» \(HTTP 401\)»\n\nNo key\.\n\nwrong$/
      );
      expect(
        failureText(
          { kind: 'other', parts: { particular: 'a teapot' } },
          'English.',
          foreign
        )
      ).toBe('«The provider refused the request: a teapot»');
      for (const failure of [
        undefined,
        { kind: 'network' },
        { kind: 'of_a_later_version', parts: {} }
      ]) {
        expect(failureText(failure, 'English.', foreign)).toBe('English.');
      }
    });

    it('should show why it failed, worded here', async () => {
      await rows.show({
        type: 'ask',
        ask: 'api_req_failed',
        text: 'The words of the server.',
        modelFailure: { kind: 'network', parts: { raw: 'ConnectError' } }
      });
      const text = page.find('.jp-hdspAgent-chat-problem-text')?.textContent;
      expect(text).toContain('could not be reached');
      expect(text).toContain('ConnectError');
      expect(text).not.toContain('The words of the server.');
    });

    it('should save what the server tells of it, as a file', async () => {
      const saved: Blob[] = [];
      const names: string[] = [];
      const { createObjectURL, revokeObjectURL } = URL;
      URL.createObjectURL = blob => `blob:${saved.push(blob as Blob)}`;
      URL.revokeObjectURL = () => undefined;
      const click = jest
        .spyOn(HTMLAnchorElement.prototype, 'click')
        .mockImplementation(function (this: HTMLAnchorElement) {
          names.push(this.download);
        });
      await rows.show({ say: 'error', text: 'It broke.' });
      await rows.click('Save details');
      expect(page.sent('errorDetails')).toMatchObject([
        { taskId: 't', messageTs: 2 }
      ]);
      await page.settle(() =>
        page.answer('errorDetails', null, { version: '1' })
      );
      expect(names).toEqual(['hdsp-agent-error-2.json']);
      expect(saved.map(({ type }) => type)).toEqual(['application/json']);
      await rows.click('Save details');
      await page.settle(() =>
        page.answer('errorDetails', { code: 'none', message: 'Not here.' })
      );
      expect(rows.row(2).textContent).toContain('Not here.');
      expect(saved).toHaveLength(1);
      click.mockRestore();
      Object.assign(URL, { createObjectURL, revokeObjectURL });
    });

    it('should put a code of the server into words', async () => {
      await rows.show({ say: 'error', text: 'MODEL_NO_ASSISTANT_MESSAGES' });
      expect(rows.row(2).textContent).toContain('The model gave no answer');
      expect(rows.row(2).textContent).not.toContain('MODEL_NO');
    });
  });

  describe('requests to the model', () => {
    it('should count while the model thinks, and be a thin line then', async () => {
      const request: ClineMessage = {
        ts: Date.now(),
        type: 'say',
        say: 'api_req_started',
        text: JSON.stringify({ apiProtocol: 'openai' })
      };
      page.begin({
        currentTaskId: 't',
        currentTaskStatus: 'running',
        clineMessages: [USER, request]
      });
      await page.settle();
      page.wait(3_000);
      expect(rows.row(request.ts).textContent).toMatch(
        /^Thinking… [23]\u00a0s$/
      );
      await rows.update({
        ...request,
        text: JSON.stringify({ tokensIn: 12_345, tokensOut: 321, cost: 0.0123 })
      });
      expect(rows.row(request.ts).textContent).toBe('↑ 12.3K ↓ 321$0.01');
    });

    const BROKEN: Partial<ClineMessage> = {
      say: 'api_req_started',
      text: JSON.stringify({
        cancelReason: 'streaming_failed',
        streamingFailedMessage: 'Reset.'
      })
    };
    const HALF: Partial<ClineMessage> = { ts: 3, say: 'text', text: 'Half' };
    const FAILED: Partial<ClineMessage> = {
      ts: 4,
      type: 'ask',
      ask: 'api_req_failed',
      text: 'Reset.'
    };

    it('should say why an answer broke off, or did not begin', async () => {
      await rows.show(BROKEN, HALF);
      expect(rows.row(2).textContent).toBe('The answer was cut off: Reset.');
      await rows.show(BROKEN);
      expect(rows.row(2).textContent).toBe('No answer: Reset.');
    });

    it('should tell one failure once', async () => {
      await rows.show(BROKEN, HALF, FAILED);
      expect(rows.row(2).textContent).toBe('The answer was cut off.');
      expect(rows.row(4).textContent).toContain('Reset.');
      await rows.show(BROKEN, {
        ts: 3,
        say: 'api_req_retry_delayed',
        partial: true,
        text: 'Reset.\n<retry_timer>9</retry_timer>'
      });
      expect(rows.row(2).textContent).toBe('');
      expect(page.node.textContent?.split('Reset.')).toHaveLength(2);
    });

    it('should tell once that the model said nothing', async () => {
      const nothing: Partial<ClineMessage> = {
        ts: 3,
        say: 'error',
        text: 'MODEL_NO_ASSISTANT_MESSAGES'
      };
      await rows.show(BROKEN, nothing, FAILED);
      expect(page.find('[data-ts="3"]')).toBeNull();
      expect(rows.row(2).textContent).toBe('');
    });

    it('should say that the person stopped an answer where it ends', async () => {
      const stopped: Partial<ClineMessage> = {
        say: 'api_req_started',
        text: JSON.stringify({ cancelReason: 'user_cancelled' })
      };
      const words = 'Stopped';
      await rows.show(stopped);
      expect(rows.row(2).textContent).toBe(words);
      await rows.show(
        stopped,
        { ts: 3, say: 'reasoning', text: 'Hm' },
        { ts: 4, say: 'text', text: 'Half' },
        { ts: 5, type: 'ask', ask: 'resume_task' }
      );
      expect(rows.row(2).textContent).not.toContain(words);
      expect(rows.row(3).textContent).not.toContain(words);
      expect(rows.row(4).textContent).toMatch(/Half.*Stopped$/);
    });

    it('should count down to the next attempt', async () => {
      const text = (left: number) =>
        `Busy.\n<retry_timer>${left}</retry_timer>`;
      await rows.show({
        say: 'api_req_retry_delayed',
        partial: true,
        text: text(5)
      });
      expect(rows.row(2).textContent).toBe('Retrying in 5\u00a0s.Busy.');
      await rows.update({
        ts: 2,
        type: 'say',
        say: 'api_req_retry_delayed',
        partial: true,
        text: text(4)
      });
      expect(rows.row(2).textContent).toContain('in 4\u00a0s');
      await rows.update({
        ts: 2,
        type: 'say',
        say: 'api_req_retry_delayed',
        partial: false,
        text: 'Busy.'
      });
      expect(rows.row(2).textContent).toBe('Retried.Busy.');
    });

    it('should say why it waits, worded here', async () => {
      await rows.show({
        say: 'api_req_retry_delayed',
        partial: false,
        text: 'The words of the server.',
        modelFailure: { kind: 'overloaded', parts: { status: 529 } }
      });
      expect(rows.row(2).textContent).toMatch(
        /^Retried\.The provider is overloaded.* \(HTTP 529\)$/
      );
    });

    it('should not claim to have tried again when that was stopped', async () => {
      await rows.show({
        say: 'api_req_retry_delayed',
        partial: false,
        text: 'Busy.',
        modelFailure: { kind: 'rate_limit', retried: false }
      });
      expect(rows.row(2).textContent).toBe('Not retried.Busy.');
    });
  });
});
