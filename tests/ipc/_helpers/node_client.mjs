// A client as node-ipc 12 and Roo Code's IpcClient are one, on Node's `net` alone. Lines of stdin are the data of
// TaskCommands; for each message heard a line goes to stdout: {message, accepted} with the verdict of Roo's own schema.
import net from 'node:net';
import readline from 'node:readline';
import { ipcMessageSchema } from '@roo-code/types';

const DELIMITER = '\f';
let clientId;
let buffer = '';
const wanted = [];

const socket = net.connect({ path: process.argv[2] });
socket.setEncoding('utf8');

function emit(type, data) {
  socket.write(JSON.stringify({ type, data }) + DELIMITER);
}

function send(data) {
  emit('message', { type: 'TaskCommand', origin: 'client', clientId, data });
}

function onMessage(message) {
  const result = ipcMessageSchema.safeParse(message);
  if (result.success && result.data.type === 'Ack') {
    clientId = result.data.data.clientId;
    wanted.splice(0).forEach(send);
  }
  process.stdout.write(
    JSON.stringify({ message, accepted: result.success }) + '\n'
  );
}

socket.on('data', data => {
  // node-ipc looks at what it has only when it ends in the delimiter.
  buffer += data;
  if (!buffer.endsWith(DELIMITER)) {
    return;
  }
  const frames = buffer.split(DELIMITER);
  buffer = '';
  frames.pop();
  for (const frame of frames) {
    const { type, data } = JSON.parse(frame);
    if (type === 'message') {
      onMessage(data);
    }
  }
});
socket.on('close', () => process.exit(0));

const lines = readline.createInterface({ input: process.stdin });
lines.on('line', line => {
  const data = JSON.parse(line);
  if (clientId === undefined) {
    wanted.push(data);
  } else {
    send(data);
  }
});
lines.on('close', () => socket.destroy());
