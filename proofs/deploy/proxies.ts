/**
 * Runs the real programs with the proxy files of `deploy/`, on ports of this machine and with self-signed certificates.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProxyAddress } from './ask.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
/** How many times to try a proxy's ports, every RETRY_MS: for about a minute. */
const READY_TRIES = 600
const RETRY_MS = 100

export type Upstreams = { page: number; console: number }

export type Running = {
  address: ProxyAddress
  /** Everything that the program wrote to its log files and its output. */
  written(): string
  stop(): Promise<void>
}

/** `names`: the certificate's alternative names, as openssl reads them. */
type CertificateRequest = { days: string; names: string }

/** `mayOpenConsole`: whether the proxy lets this machine open the console. */
export type Settings = {
  folder: string
  upstreams: Upstreams
  ports: [tls: number, plain: number]
  mayOpenConsole: boolean
  /** Edits nginx's configuration file, to break it. */
  edit?(text: string): string
  /** Of nginx only: Caddy always gets the default certificate. */
  certificateRequest?: CertificateRequest
}

export type ProxyProgram = { name: string; file: string; start(settings: Settings): Promise<Running> }

export const DEFAULT_CERTIFICATE = { days: '30', names: 'DNS:pay.example,DNS:till-ops.example' }

function makeCertificate(
  folder: string,
  { days, names }: CertificateRequest = DEFAULT_CERTIFICATE,
): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
  const openssl = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    days,
    '-subj',
    '/CN=pay.example',
    '-addext',
    `subjectAltName=${names}`,
    '-keyout',
    key,
    '-out',
    certificate,
  ])
  if (openssl.status !== 0) throw new Error(`openssl made no certificate: ${openssl.stderr}`)
  return { certificate, key }
}

export const NGINX: ProxyProgram = {
  name: 'nginx',
  file: 'nginx.conf',
  start({ folder, upstreams, ports, mayOpenConsole, edit = (text) => text, ...rest }) {
    const { certificate, key } = makeCertificate(folder, rest.certificateRequest)
    const logs = join(folder, 'logs')
    mkdirSync(logs)
    const text = edit(readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8'))
      .replaceAll(/ssl_certificate .*;/g, `ssl_certificate ${certificate};`)
      .replaceAll(/ssl_certificate_key .*;/g, `ssl_certificate_key ${key};`)
      .replaceAll('/var/log/nginx', logs)
      .replaceAll(/listen 443/g, `listen 127.0.0.1:${ports[0]}`)
      .replaceAll(/listen 80;/g, `listen 127.0.0.1:${ports[1]};`)
      .replaceAll('127.0.0.1:4300', `127.0.0.1:${upstreams.page}`)
      .replaceAll('127.0.0.1:4304', `127.0.0.1:${upstreams.console}`)
      .replace('allow 10.0.0.0/8;', mayOpenConsole ? 'allow 127.0.0.0/8;' : 'allow 10.0.0.0/8;')
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    )
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, `pid ${folder}/pid;\nevents {}\nhttp {\n${temporary.join('\n')}\n${text}}\n`)
    const args = ['-p', folder, '-e', join(logs, 'start.log'), '-c', file, '-g', 'daemon off;']
    return run('nginx', { args, logs, address: { tlsPort: ports[0], plainPort: ports[1], certificate } })
  },
}

export const CADDY: ProxyProgram = {
  name: 'caddy',
  file: 'Caddyfile',
  start({ folder, upstreams, ports, mayOpenConsole }) {
    const { certificate, key } = makeCertificate(folder)
    const logs = join(folder, 'logs')
    mkdirSync(logs)
    const text = readFileSync(join(DEPLOY, 'Caddyfile'), 'utf8')
      .replaceAll('/var/log/caddy', logs)
      .replace(
        '\n\tservers {',
        `\n\tadmin off\n\thttps_port ${ports[0]}\n\thttp_port ${ports[1]}\n\tservers {`,
      )
      .replaceAll(/^((?:pay|till-ops)\.example) \{$/gm, `$1 {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`)
      .replace('private_ranges', mayOpenConsole ? '127.0.0.0/8' : '10.0.0.0/8')
    const file = join(folder, 'Caddyfile')
    writeFileSync(file, text)
    const args = ['run', '--adapter', 'caddyfile', '--config', file]
    const env = {
      TILL: `127.0.0.1:${upstreams.page}`,
      CONSOLE: `127.0.0.1:${upstreams.console}`,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    }
    return run('caddy', { args, env, logs, address: { tlsPort: ports[0], plainPort: ports[1], certificate } })
  },
}

type Command = { args: string[]; env?: Record<string, string>; logs: string; address: ProxyAddress }

async function run(program: string, { args, env = {}, logs, address }: Command): Promise<Running> {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  try {
    await untilListening(child, [address.tlsPort, address.plainPort])
  } catch (error) {
    await stop()
    throw new Error(`${program} does not listen:\n${output.join('')}`, { cause: error })
  }
  const written = () =>
    [...output, ...readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))].join('')
  return { address, written, stop }
}

async function untilListening(child: ChildProcess, ports: readonly number[]): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if (child.exitCode !== null) throw new Error('the program ended')
    if ((await Promise.all(ports.map(isOpen))).every((each) => each)) return
    await delay(RETRY_MS)
  }
  throw new Error('its ports did not open within a minute')
}

function isOpen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: '127.0.0.1', port }, () => {
    socket.destroy()
    resolve(true)
  })
  socket.once('error', () => resolve(false))
  return promise
}
