/** Notifies systemd that the process is ready: `systemctl start` and `restart` wait for it. */
import { spawn } from 'node:child_process'

/** Node cannot send datagrams to a Unix socket, so systemd's own program does it. */
export function notifyReady(program = 'systemd-notify'): void {
  spawn(program, ['--ready'], { stdio: 'ignore' })
    .once('error', (error) =>
      console.error(`systemd was not told that the gateway is ready: ${error.message}`),
    )
    .once('exit', (code) => {
      if (code !== 0)
        console.error(`systemd was not told that the gateway is ready: ${program} ended with ${code}`)
    })
}
