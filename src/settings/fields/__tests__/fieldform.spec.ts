import type { JSONObject } from '@lumino/coreutils';

import { RequestError } from '../../../comm/requesterror';
import { readFields } from '../fields';
import { FieldForm } from '../fieldform';
import { GLOBAL_SCHEMA } from '../../__tests__/settingsschema';

const fields = readFields(GLOBAL_SCHEMA);
const toggle = fields[0];
const timeout = fields[1];
const cost = fields[2];

/**
 * A server that keeps what it is sent, slowly.
 */
class Server {
  values: JSONObject = { autoApprovalEnabled: false, checkpointTimeout: 15 };
  patches: JSONObject[] = [];
  form = new FieldForm({ save: patch => this.save(patch), pauseMs: 100 });
  refusal: RequestError | null = null;

  constructor() {
    this.form.load(this.values);
  }

  async save(patch: JSONObject): Promise<void> {
    this.patches.push(patch);
    await new Promise(resolve => setTimeout(resolve, 10));
    if (this.refusal !== null) {
      throw this.refusal;
    }
    this.values = { ...this.values, ...patch };
    this.form.load(this.values);
  }
}

describe('FieldForm', () => {
  let server: Server;

  beforeEach(() => {
    jest.useFakeTimers();
    server = new Server();
  });

  afterEach(() => {
    server.form.dispose();
    jest.useRealTimers();
  });

  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('stores what is typed when typing pauses, once', async () => {
    server.form.type(timeout, '2');
    await pass(50);
    server.form.type(timeout, '20');
    await pass(50);
    expect(server.patches).toEqual([]);
    expect(server.form.statusOf(timeout)).toBe('waiting');
    await pass(60);
    expect(server.patches).toEqual([{ checkpointTimeout: 20 }]);
    await pass(20);
    expect(server.form.statusOf(timeout)).toBe('saved');
    expect(server.form.textOf(timeout)).toBe('20');
    await pass(5000);
    expect(server.form.statusOf(timeout)).toBe('idle');
  });

  it('stores a choice at once', async () => {
    server.form.choose(toggle, 'true');
    await pass(0);
    expect(server.patches).toEqual([{ autoApprovalEnabled: true }]);
  });

  it('ends where the last choice was, however quick they came', async () => {
    server.form.choose(toggle, 'true');
    await pass(1);
    server.form.choose(toggle, 'false');
    await pass(1);
    server.form.choose(toggle, 'true');
    server.form.choose(toggle, 'false');
    await pass(200);
    expect(server.values.autoApprovalEnabled).toBe(false);
    expect(server.form.textOf(toggle)).toBe('false');
    expect(server.form.statusOf(toggle)).toBe('saved');
  });

  it('sends nothing when the text says what is stored', async () => {
    server.form.type(timeout, '15');
    await pass(200);
    expect(server.patches).toEqual([]);
    expect(server.form.statusOf(timeout)).toBe('idle');
  });

  it('keeps what was typed when the server refuses it', async () => {
    server.refusal = new RequestError({
      code: 'invalid_setting',
      message: 'too large',
      field: 'checkpointTimeout',
      params: { reason: 'must be less than or equal to 60' }
    });
    server.form.type(timeout, '70');
    await pass(200);
    expect(server.form.statusOf(timeout)).toBe('failed');
    expect(server.form.errorOf(timeout)?.code).toBe('invalid_setting');
    expect(server.form.textOf(timeout)).toBe('70');
    expect(server.form.valueOf(timeout)).toBe(15);

    server.refusal = null;
    server.form.type(timeout, '50');
    await pass(200);
    expect(server.form.errorOf(timeout)).toBeNull();
    expect(server.values.checkpointTimeout).toBe(50);
  });

  it('goes back to the stored value when the edit is undone', async () => {
    server.refusal = new RequestError({
      code: 'invalid_setting',
      message: 'no'
    });
    server.form.type(timeout, '70');
    await pass(200);
    server.form.revert(timeout);
    expect(server.form.textOf(timeout)).toBe('15');
    expect(server.form.errorOf(timeout)).toBeNull();
  });

  it('says that a text is no number without asking the server', async () => {
    server.form.type(timeout, 'abc');
    await pass(200);
    expect(server.patches).toEqual([]);
    expect(server.form.errorOf(timeout)?.code).toBe('not_a_number');
    server.form.type(timeout, '15');
    await pass(200);
    expect(server.form.errorOf(timeout)).toBeNull();
  });

  it('does not let a change from elsewhere touch what is being typed', async () => {
    server.form.type(timeout, '3');
    server.form.load({ autoApprovalEnabled: true, checkpointTimeout: 40 });
    expect(server.form.textOf(timeout)).toBe('3');
    expect(server.form.textOf(toggle)).toBe('true');
    server.form.type(timeout, '30');
    await pass(200);
    expect(server.values.checkpointTimeout).toBe(30);
  });

  it('sends what was typed on while the first part was on its way', async () => {
    server.form.type(timeout, '2');
    await pass(101);
    server.form.type(timeout, '25');
    await pass(300);
    expect(server.patches).toEqual([
      { checkpointTimeout: 2 },
      { checkpointTimeout: 25 }
    ]);
    expect(server.form.textOf(timeout)).toBe('25');
  });

  it('resets a field by sending null', async () => {
    server.form.reset(timeout);
    await pass(50);
    expect(server.patches).toEqual([{ checkpointTimeout: null }]);
  });

  it('stores an emptied field as no value where that is allowed', async () => {
    server.form.load({ allowedMaxCost: 3 });
    server.form.type(cost, '');
    await pass(200);
    expect(server.patches).toEqual([{ allowedMaxCost: null }]);
  });

  it('stores what is still waiting when it is disposed', async () => {
    server.form.type(timeout, '44');
    server.form.dispose();
    await pass(50);
    expect(server.values.checkpointTimeout).toBe(44);
  });
});
