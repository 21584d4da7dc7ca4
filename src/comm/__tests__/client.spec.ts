import { ChannelClient } from '../client';
import { SocketLink } from '../socketlink';
import { Reconnector } from '../reconnect';
import { RequestError } from '../requesterror';
import type { ConnectionPhase } from '../status';
import { ScriptedServer } from './scriptedserver';

const ask = { type: 'clearTask' } as const;

describe('ChannelClient', () => {
  let server: ScriptedServer;
  let client: ChannelClient;
  let received: string[];
  let phases: ConnectionPhase[];
  let page: {
    window: EventTarget;
    document: EventTarget & { hidden: boolean };
  };
  let httpStatus: number | null;

  beforeEach(() => {
    jest.useFakeTimers();
    server = new ScriptedServer();
    httpStatus = null;
    page = {
      window: new EventTarget(),
      document: Object.assign(new EventTarget(), { hidden: false })
    };
    client = new ChannelClient({
      openSocket: server.open,
      clientId: 'tab-1',
      version: '0.1.0',
      protocol: 1,
      probe: () => Promise.resolve(httpStatus),
      page,
      random: () => 1
    });
    received = [];
    phases = [];
    client.messageReceived.connect((_, message) => {
      received.push(message.type);
    });
    client.statusChanged.connect((_, { phase }) => {
      if (phases[phases.length - 1] !== phase) {
        phases.push(phase);
      }
    });
  });

  afterEach(() => {
    client.dispose();
    jest.useRealTimers();
  });

  /** Open for the first time, with the state as of `seq`. */
  function begin(seq = 10): void {
    client.connect();
    server.accept({}, seq);
    server.state(seq);
    received.length = 0;
  }

  /** Request something whose answer does not matter. */
  function send(message: ChannelClient.Request): void {
    client.request(message).catch(() => undefined);
  }

  describe('opening', () => {
    it('knows the time at the server, and until when it was known what goes on there', () => {
      const { clock } = client;
      expect(clock.lastKnown()).toBe(Date.now());
      client.connect();
      server.accept({ now: Date.now() + 5_000 }, 10);
      jest.advanceTimersByTime(1_000);
      expect(clock.lastKnown()).toBe(Date.now() + 5_000);
      server.socket.drop();
      const lost = clock.now();
      jest.advanceTimersByTime(60_000);
      expect(clock.lastKnown()).toBe(lost);
      expect(clock.now()).toBe(lost + 60_000);
      server.accept({ now: Date.now() + 7_000 }, 10);
      expect(clock.lastKnown()).toBe(Date.now() + 7_000);
    });

    it('should introduce itself and count as open only when the server has answered', () => {
      client.connect();
      server.socket.connect();
      expect(client.status.phase).toBe('connecting');
      const [{ data }] = server.socket.sentWith('open');
      expect(data).toEqual({
        target: 'hdsp_agent.webview',
        clientId: 'tab-1',
        version: '0.1.0',
        protocol: 1
      });
      server.accept();
      expect(client.status.phase).toBe('open');
      expect(client.status.serverVersion).toBe('0.1.0');
    });

    it('should give up on a server that accepts the socket but never answers', () => {
      client.connect();
      server.socket.connect();
      jest.advanceTimersByTime(SocketLink.HANDSHAKE_TIMEOUT);
      expect(client.status.phase).toBe('reconnecting');
      jest.advanceTimersByTime(1000);
      expect(server.sockets).toHaveLength(2);
    });

    it('should try again when the socket cannot even be made', () => {
      const warn = jest.spyOn(console, 'warn').mockImplementation();
      let attempts = 0;
      const failing = new ChannelClient({
        openSocket: () => {
          attempts += 1;
          throw new DOMException('bad address');
        },
        clientId: 'tab-2',
        version: '0.1.0',
        protocol: 1
      });
      failing.connect();
      jest.advanceTimersByTime(2000);
      expect(attempts).toBeGreaterThan(1);
      failing.dispose();
      expect(warn).toHaveBeenCalled();
      warn.mockRestore();
    });
  });

  describe('resuming', () => {
    it('should ask for what it missed and apply it once', () => {
      begin(10);
      server.publish(11);
      server.socket.drop();
      jest.advanceTimersByTime(1000);
      server.socket.connect();
      expect(server.socket.sentWith('open')[0].data).toMatchObject({
        epoch: 'e1',
        lastSeq: 11
      });
      server.accept({ resumed: true }, 13);
      server.publish(12);
      server.publish(13);
      expect(received).toEqual(['m11', 'm12', 'm13']);
    });

    it('should take a fresh state as the truth and ignore what it contains', () => {
      begin(10);
      server.socket.drop();
      jest.advanceTimersByTime(1000);
      server.accept({ epoch: 'e2' }, 3);
      server.publish(3);
      server.state(3);
      server.publish(3);
      server.publish(4);
      expect(received).toEqual(['state', 'm4']);
    });

    it('should ignore a frame it has applied before', () => {
      begin(10);
      server.publish(11);
      server.publish(11);
      server.publish(10);
      expect(received).toEqual(['m11']);
    });

    it('should deliver messages to this tab alone, which have no number', () => {
      begin(10);
      server.socket.say({ op: 'msg', data: { type: 'messagesPage' } });
      server.publish(11);
      expect(received).toEqual(['messagesPage', 'm11']);
    });

    it('should apply an array of frames in order', () => {
      begin(10);
      server.socket.say(
        { op: 'msg', seq: 11, data: { type: 'a' } },
        { op: 'msg', seq: 12, data: { type: 'b' } }
      );
      expect(received).toEqual(['a', 'b']);
    });

    it('should open anew from the last frame it has when one is missing', () => {
      begin(10);
      server.publish(11);
      server.socket.say(
        { op: 'msg', seq: 13, data: { type: 'm13' } },
        { op: 'msg', seq: 14, data: { type: 'm14' } }
      );
      expect(received).toEqual(['m11']);
      expect(server.sockets).toHaveLength(2);
      server.socket.connect();
      expect(server.socket.sentWith('open')[0].data).toMatchObject({
        lastSeq: 11
      });
      server.accept({ resumed: true }, 14);
      server.publish(12);
      server.publish(13);
      server.publish(14);
      expect(received).toEqual(['m11', 'm12', 'm13', 'm14']);
    });

    it('should ask for a fresh state when asking again leaves the same gap', () => {
      begin(10);
      server.publish(12);
      server.accept({ resumed: true }, 12);
      server.publish(12);
      server.socket.connect();
      expect(server.socket.sentWith('open')[0].data).not.toHaveProperty(
        'lastSeq'
      );
    });

    it('should accept the state a slow tab gets instead of what it missed', () => {
      begin(10);
      server.state(500);
      server.publish(501);
      expect(received).toEqual(['state', 'm501']);
      expect(server.sockets).toHaveLength(1);
    });

    it('should drop its place when a fresh state is wanted', () => {
      begin(10);
      client.resync();
      server.socket.connect();
      expect(server.socket.sentWith('open')[0].data).not.toHaveProperty(
        'epoch'
      );
    });
  });

  describe('#request()', () => {
    it('should resolve with the result of its ack', async () => {
      begin();
      const answer = client.request(ask);
      const [{ data }] = server.socket.sentWith('msg');
      expect(data).toMatchObject(ask);
      server.socket.say({
        op: 'ack',
        data: { requestId: data.requestId, ok: true, result: { n: 1 } }
      });
      await expect(answer).resolves.toEqual({ n: 1 });
    });

    it('should reject with code, parameters and field of a refusal', async () => {
      begin();
      const answer = client.request(ask);
      const [{ data }] = server.socket.sentWith('msg');
      server.socket.say({
        op: 'ack',
        data: {
          requestId: data.requestId,
          ok: false,
          error: {
            code: 'invalid_setting',
            message: 'no',
            params: { max: 3 },
            field: 'requestDelaySeconds'
          }
        }
      });
      const error: unknown = await answer.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(RequestError);
      expect(error).toMatchObject({
        code: 'invalid_setting',
        params: { max: 3 },
        field: 'requestDelaySeconds'
      });
    });

    it('should wait for the connection, then send in order', () => {
      client.connect();
      send({ type: 'dismissNotice', id: 'a' });
      send({ type: 'dismissNotice', id: 'b' });
      expect(server.socket.sent).toEqual([]);
      server.accept();
      expect(server.socket.sentWith('msg').map(({ data }) => data.id)).toEqual([
        'a',
        'b'
      ]);
    });

    it('should send an unanswered request again with the same id, and an answered one not', async () => {
      begin();
      const first = client.request({ type: 'dismissNotice', id: 'a' });
      send({ type: 'dismissNotice', id: 'b' });
      const [a, b] = server.socket.sentWith('msg');
      server.socket.say({
        op: 'ack',
        data: { requestId: a.data.requestId, ok: true }
      });
      await first;
      server.socket.drop();
      jest.advanceTimersByTime(1000);
      server.accept({ resumed: true }, 10);
      expect(server.socket.sentWith('msg').map(({ data }) => data)).toEqual([
        b.data
      ]);
    });

    it('should not send what the server would refuse for its size, counted in bytes', async () => {
      begin();
      await expect(
        client.request({ type: 'newTask', text: '한'.repeat(400) })
      ).rejects.toMatchObject({
        code: 'frame_too_large',
        params: { limit: 1000 }
      });
      expect(server.socket.sentWith('msg')).toEqual([]);
    });

    it('should not send it either when the limit became known only later', async () => {
      client.connect();
      const waiting = client.request({
        type: 'newTask',
        text: 'x'.repeat(2000)
      });
      server.accept();
      await expect(waiting).rejects.toMatchObject({ code: 'frame_too_large' });
      expect(server.socket.sentWith('msg')).toEqual([]);
    });

    it('should refuse more when too many wait', async () => {
      client.connect();
      for (let count = 0; count < ChannelClient.MAX_PENDING; count++) {
        send(ask);
      }
      await expect(client.request(ask)).rejects.toMatchObject({
        code: 'unavailable'
      });
    });

    it('should report an answer that names no request', () => {
      const warn = jest.spyOn(console, 'warn').mockImplementation();
      begin();
      server.socket.say({
        op: 'ack',
        data: {
          requestId: null,
          ok: false,
          error: { code: 'malformed_frame', message: 'not JSON', params: {} }
        }
      });
      expect(warn.mock.calls).toEqual([
        [
          expect.any(String),
          expect.objectContaining({ code: 'malformed_frame' })
        ]
      ]);
      warn.mockRestore();
    });
  });

  describe('reconnecting', () => {
    it('should wait longer from try to try, and say when the next one comes', () => {
      client.connect();
      const waits: number[] = [];
      for (let attempt = 0; attempt < 9; attempt++) {
        server.socket.drop();
        const { retryAt } = client.status;
        waits.push((retryAt ?? 0) - Date.now());
        jest.advanceTimersByTime(waits[attempt]);
      }
      expect(waits).toEqual([
        500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000
      ]);
    });

    it('should call the server offline after several failures', () => {
      begin();
      server.socket.drop();
      expect(phases).toEqual(['open', 'reconnecting']);
      for (let attempt = 0; attempt < 5; attempt++) {
        jest.runOnlyPendingTimers();
        server.socket.drop();
      }
      expect(client.status.phase).toBe('offline');
    });

    it('should begin with a short wait again after a connection that lasted', () => {
      begin();
      for (let attempt = 0; attempt < 4; attempt++) {
        server.socket.drop();
        jest.runOnlyPendingTimers();
      }
      server.accept({ resumed: true }, 10);
      jest.advanceTimersByTime(Reconnector.STABLE_AFTER + 1);
      server.socket.drop();
      expect((client.status.retryAt ?? 0) - Date.now()).toBe(500);
    });

    it('should keep backing off from a server that accepts and drops at once', () => {
      begin();
      for (let attempt = 0; attempt < 3; attempt++) {
        server.socket.drop();
        jest.advanceTimersByTime((client.status.retryAt ?? 0) - Date.now());
        server.accept({ resumed: true }, 10);
      }
      server.socket.drop();
      expect((client.status.retryAt ?? 0) - Date.now()).toBe(4000);
    });

    it.each([
      ['online', () => page.window.dispatchEvent(new Event('online'))],
      ['pageshow', () => page.window.dispatchEvent(new Event('pageshow'))],
      [
        'visibilitychange',
        () => page.document.dispatchEvent(new Event('visibilitychange'))
      ]
    ])('should try at once on %s', (_, happen) => {
      begin();
      server.socket.drop();
      const before = server.sockets.length;
      happen();
      expect(server.sockets).toHaveLength(before + 1);
    });

    it('should not hurry when the page is hidden', () => {
      begin();
      server.socket.drop();
      const before = server.sockets.length;
      page.document.hidden = true;
      page.document.dispatchEvent(new Event('visibilitychange'));
      expect(server.sockets).toHaveLength(before);
    });

    it('should try at once when it is told to', () => {
      begin();
      server.socket.drop();
      const before = server.sockets.length;
      client.connect();
      expect(server.sockets).toHaveLength(before + 1);
    });

    it('should not say hello on a socket it has let go of', () => {
      client.connect();
      const abandoned = server.socket;
      client.connect();
      abandoned.connect();
      expect(abandoned.sent).toEqual([]);
    });
  });

  describe('the heartbeat', () => {
    it('should ping with the number of the newest frame applied', () => {
      begin(10);
      server.publish(11);
      jest.advanceTimersByTime(20_000);
      expect(server.socket.sentWith('ping').map(({ seq }) => seq)).toEqual([
        11
      ]);
    });

    it('should answer the pings of the server', () => {
      begin();
      server.socket.say({ op: 'ping' });
      expect(server.socket.sentWith('pong')).toHaveLength(1);
    });

    it('should believe a server dead that is silent for 2.5 intervals', () => {
      begin();
      jest.advanceTimersByTime(49_000);
      expect(client.status.phase).toBe('open');
      jest.advanceTimersByTime(2_000);
      expect(server.sockets.length).toBeGreaterThan(1);
    });

    it('should believe a server alive as long as anything arrives', () => {
      begin();
      for (let passed = 0; passed < 10; passed++) {
        jest.advanceTimersByTime(20_000);
        server.socket.say({ op: 'pong' });
      }
      expect(server.sockets).toHaveLength(1);
    });

    it('should test the connection when the page wakes up', () => {
      begin();
      page.window.dispatchEvent(new Event('pageshow'));
      expect(server.socket.sentWith('ping')).toHaveLength(1);
      jest.advanceTimersByTime(6_000);
      expect(client.status.phase).toBe('reconnecting');
    });

    it('should keep a connection that answers the test', () => {
      begin();
      page.window.dispatchEvent(new Event('online'));
      jest.advanceTimersByTime(100);
      server.socket.say({ op: 'pong' });
      jest.advanceTimersByTime(6_000);
      expect(client.status.phase).toBe('open');
      expect(server.sockets).toHaveLength(1);
    });
  });

  describe('being refused', () => {
    function refuse(code = 'version_mismatch'): void {
      server.socket.say({
        op: 'close',
        data: { code, message: 'Reload.', params: { server: '0.2.0' } }
      });
    }

    it('should stop trying when the versions differ, whatever wakes the page', () => {
      begin();
      refuse();
      server.socket.drop();
      page.window.dispatchEvent(new Event('online'));
      jest.advanceTimersByTime(600_000);
      expect(server.sockets).toHaveLength(1);
      expect(client.status).toMatchObject({
        phase: 'refused',
        reason: 'version_mismatch',
        retryAt: null,
        serverVersion: '0.2.0'
      });
    });

    it('should reject what waits and what comes with the reason', async () => {
      client.connect();
      server.socket.connect();
      const waiting = client.request(ask);
      refuse();
      await expect(waiting).rejects.toMatchObject({ code: 'version_mismatch' });
      await expect(client.request(ask)).rejects.toMatchObject({
        code: 'version_mismatch'
      });
    });

    it('should try once more when a person wants it', () => {
      begin();
      refuse('closed_by_operator');
      expect(client.status.reason).toBe('closed');
      client.connect();
      server.accept();
      expect(client.status.phase).toBe('open');
    });
  });

  describe('a socket that cannot be opened', () => {
    async function fail(): Promise<void> {
      server.socket.drop();
      await Promise.resolve();
      await Promise.resolve();
    }

    it.each([401, 403])(
      'should say that the log-in expired on %s, and try only now and then',
      async status => {
        httpStatus = status;
        client.connect();
        await fail();
        expect(client.status).toMatchObject({
          phase: 'offline',
          reason: 'login_expired'
        });
        expect((client.status.retryAt ?? 0) - Date.now()).toBe(
          Reconnector.SLOW_RETRY
        );
      }
    );

    it('should hurry again when the log-in is back', async () => {
      httpStatus = 403;
      client.connect();
      await fail();
      httpStatus = 200;
      jest.advanceTimersByTime(Reconnector.SLOW_RETRY);
      await fail();
      expect(client.status.reason).toBe('lost');
      expect((client.status.retryAt ?? 0) - Date.now()).toBeLessThan(10_000);
    });

    it('should try again soon while the agent may not have started yet', async () => {
      httpStatus = 404;
      client.connect();
      await fail();
      expect(client.status).toMatchObject({
        phase: 'reconnecting',
        reason: 'lost'
      });
      expect((client.status.retryAt ?? 0) - Date.now()).toBeLessThan(1_000);
    });

    it('should say that the server has no agent once that is sure', async () => {
      httpStatus = 404;
      client.connect();
      await fail();
      for (let attempt = 0; attempt < 5; attempt++) {
        expect(client.status.reason).toBe('lost');
        jest.runOnlyPendingTimers();
        await fail();
      }
      expect(client.status).toMatchObject({
        phase: 'offline',
        reason: 'extension_missing'
      });
      expect((client.status.retryAt ?? 0) - Date.now()).toBe(
        Reconnector.SLOW_RETRY
      );
    });

    it('should say that nothing answers', async () => {
      client.connect();
      await fail();
      expect(client.status.reason).toBe('network');
    });

    it('should blame neither person nor network while the server starts', async () => {
      httpStatus = 503;
      client.connect();
      await fail();
      expect(client.status.reason).toBe('lost');
    });

    it('should suspect a proxy when only WebSockets fail, again and again', async () => {
      httpStatus = 200;
      client.connect();
      await fail();
      expect(client.status.reason).toBe('lost');
      for (let attempt = 0; attempt < 3; attempt++) {
        jest.runOnlyPendingTimers();
        await fail();
      }
      expect(client.status.reason).toBe('socket_blocked');
    });

    it('should forget the diagnosis when the connection is there', async () => {
      httpStatus = 403;
      client.connect();
      await fail();
      client.connect();
      server.accept();
      expect(client.status).toMatchObject({ phase: 'open', reason: null });
    });
  });

  describe('bad frames', () => {
    it.each(['{', 'null', '{"op":"dance"}', '{"op":"msg"}', '[1]'])(
      'should ignore %s and go on',
      text => {
        const warn = jest.spyOn(console, 'warn').mockImplementation();
        begin(10);
        server.socket.hear(text);
        server.publish(11);
        expect(received).toEqual(['m11']);
        expect(warn).toHaveBeenCalledTimes(1);
        warn.mockRestore();
      }
    );
  });

  describe('#dispose()', () => {
    it('should close, stop every timer and reject what waits, once', async () => {
      begin();
      const waiting = client.request(ask);
      client.dispose();
      client.dispose();
      expect(client.isDisposed).toBe(true);
      await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
      await expect(client.request(ask)).rejects.toBeInstanceOf(RequestError);
      expect(server.socket.sentWith('close')).toHaveLength(1);
      expect(jest.getTimerCount()).toBe(0);
      page.window.dispatchEvent(new Event('online'));
      client.connect();
      expect(server.sockets).toHaveLength(1);
    });
  });
});
