/** Set-ups of real programs, each broken in one way. The doctor must name the broken part, and nothing else. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../../e2e/support/process.ts'
import type { Check } from './behind.ts'
import { CERTIFICATE, NGINX } from './proxies.ts'
import { examine, startTill } from './till.ts'

type Broken = {
  what: string
  /** A replacement in the proxy's configuration file, which must contain `from`. */
  replaces?: readonly [from: string | RegExp, to: string]
  /** Settings that the doctor gets instead of the gateway's. */
  settings?: Record<string, string>
  certificate?: { days?: string; names?: string; isTrusted?: boolean }
  /** The checks that must fail. */
  named: readonly string[]
}

const HEADER = 'proxy_set_header X-Forwarded'

const BROKEN: readonly Broken[] = [
  {
    what: 'no address of the caller',
    replaces: [/X-Forwarded-For \$remote_addr/g, 'X-Forwarded-For ""'],
    named: ['proxy.caller'],
  },
  {
    what: 'the address that the caller claims',
    replaces: [/X-Forwarded-For \$remote_addr/, 'X-Forwarded-For $http_x_forwarded_for'],
    named: ['proxy.caller'],
  },
  { what: 'no mention of https', replaces: [`${HEADER}-Proto $scheme;`, ''], named: ['proxy.caller'] },
  {
    what: 'https reported as http',
    replaces: [`${HEADER}-Proto $scheme;`, `${HEADER}-Proto http;`],
    named: ['proxy.caller'],
  },
  { what: 'another host', replaces: ['Host $host', 'Host $proxy_host'], named: ['public'] },
  {
    what: 'no HSTS',
    replaces: ['proxy_read_timeout 60s;', 'proxy_hide_header Strict-Transport-Security;'],
    named: ['proxy.hsts'],
  },
  {
    what: 'HSTS twice',
    replaces: ['proxy_read_timeout 60s;', 'add_header Strict-Transport-Security "max-age=1" always;'],
    named: ['proxy.hsts'],
  },
  {
    what: 'no compression',
    replaces: ['proxy_read_timeout 60s;', 'proxy_set_header Accept-Encoding "";'],
    named: ['proxy.compression'],
  },
  {
    what: 'small bodies',
    replaces: [/client_max_body_size 128k;/, 'client_max_body_size 16k;'],
    named: ['proxy.body'],
  },
  {
    what: 'plain http without a redirect',
    replaces: ['return 308 https://$host$request_uri;', 'return 200;'],
    named: ['proxy.http'],
  },
  {
    what: 'plain http that redirects to http',
    replaces: ['return 308 https://$host$request_uri;', 'return 302 http://$host/other;'],
    named: ['proxy.http'],
  },
  {
    what: 'a port without a listener',
    replaces: [/proxy_pass http:\/\/127\.0\.0\.1:\d+/, 'proxy_pass http://127.0.0.1:1'],
    named: ['public'],
  },
  {
    what: 'another page',
    replaces: ['location / {\n    proxy_pass', 'location / {\n    return 200 "hello";\n    proxy_pass'],
    named: ['public'],
  },
  { what: 'a certificate about to expire', certificate: { days: '3' }, named: ['proxy.tls', 'console.tls'] },
  {
    what: 'an untrusted certificate',
    certificate: { isTrusted: false },
    named: ['public', 'console'],
  },
  {
    what: 'a certificate for another name',
    certificate: { names: 'DNS:other.example,DNS:till-ops.example' },
    named: ['public'],
  },
  {
    what: 'a public name that does not resolve',
    settings: { TRADETILL_PUBLIC_URL: 'https://nowhere.invalid' },
    named: ['public'],
  },
  {
    what: 'a console address that leads to the page',
    settings: { TRADETILL_CONSOLE_URL: 'https://other.example' },
    certificate: { names: 'DNS:pay.example,DNS:till-ops.example,DNS:other.example' },
    named: ['console'],
  },
  {
    what: 'a sandbox',
    settings: {
      TRADETILL_MODE: 'sandbox',
      TRADETILL_PUBLIC_URL: 'http://localhost:1',
      TRADETILL_CONSOLE_URL: 'http://localhost:2',
    },
    named: ['mode', 'database.identity', 'public', 'console', 'console.origin'],
  },
  { what: 'no trusted proxy', settings: { TRADETILL_TRUSTED_PROXIES: '' }, named: ['settings'] },
  { what: 'no key', settings: { TRADETILL_MASTER_KEY: '' }, named: ['settings'] },
  {
    what: 'another key',
    settings: { TRADETILL_MASTER_KEY: Buffer.alloc(32, 9).toString('base64') },
    named: ['database.identity'],
  },
  {
    what: 'a missing database',
    settings: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    named: ['database'],
  },
]

/** Each broken set-up must fail exactly its named checks, in addition to those that the unbroken one fails. */
export async function checkBroken({
  folder,
  databaseUrl,
}: {
  folder: string
  databaseUrl: string
}): Promise<Check[]> {
  const [page = 0, console = 0, tls = 0, plain = 0] = await freePorts(4)
  const upstreams = { page, console }
  const till = await startTill(databaseUrl, upstreams)
  let number = 0
  const failingChecks = async ({
    replaces,
    settings = {},
    certificate = {},
  }: Omit<Broken, 'what' | 'named'>) => {
    number += 1
    const place = join(folder, `broken-${number}`)
    mkdirSync(place)
    const { isTrusted = true, ...changes } = certificate
    const running = await NGINX.start({
      folder: place,
      upstreams,
      ports: [tls, plain],
      admits: true,
      edit: (text) => edit(text, replaces),
      certificate: { ...CERTIFICATE, ...changes },
    })
    const findings = await examine(till, running.place, { isTrusted, settings }).finally(() => running.stop())
    return findings.filter(({ state }) => state === 'mend').map(({ check }) => check)
  }
  try {
    const whole = new Set(await failingChecks({}))
    const checks: Check[] = []
    for (const { what, named, ...how } of BROKEN) {
      const found = (await failingChecks(how)).filter((check) => !whole.has(check))
      const isRight = found.join() === named.join()
      checks.push({
        name: `the doctor detects this fault: ${what}`,
        why: isRight ? '' : `named ${found.join() || 'nothing'}`,
      })
    }
    return checks
  } finally {
    await till.kill()
  }
}

function edit(text: string, replaces: Broken['replaces']): string {
  if (replaces === undefined) return text
  const changed = text.replace(...replaces)
  if (changed === text) throw new Error(`the file does not contain ${replaces[0]}`)
  return changed
}
