import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../gateway/config.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const files = globSync(['deploy/*file', 'deploy/**/*.*'], { cwd: ROOT }).concat('.env.example').sort()

const HASH = '0123456789abcdef0123456789abcdef'
/** Calls that contain the link of a deposit. */
const CALLS = [
  `/deposit/${HASH}`,
  `/${HASH}`,
  `/api/payment?hash=${HASH}`,
  `/api/inventory?game=cs&hash=${HASH.toUpperCase()}&x=1`,
]

describe('the deployment files', () => {
  it('name only settings that the documents list', () => {
    const known = new Set(
      ['docs/operating.md', 'docs/selling.md'].flatMap(
        (file) => read(file).match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [],
      ),
    )
    const named = files.flatMap((file) =>
      [...read(file).matchAll(/\b(?:TRADETILL_[A-Z_]*[A-Z]|(?:OWNER_)?DATABASE_URL(?:_FILE)?)\b/g)].map(
        ([name]) => ({ file, name }),
      ),
    )
    expect(named.length).toBeGreaterThan(15)
    expect(named.filter(({ name }) => !known.has(name))).toEqual([])
  })

  it('include example settings that live mode accepts if their files exist', () => {
    const example = parseEnv(read('.env.example'))
    const settings = {
      ...Object.fromEntries(Object.entries(example).filter(([name]) => !name.endsWith('_FILE'))),
      DATABASE_URL: 'postgres://tradetill_app@127.0.0.1/tradetill',
      TRADETILL_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    }
    expect(readConfig(settings)).toMatchObject({
      kind: 'config',
      config: { mode: 'live', metricsPort: 4309 },
    })
    const problems = readConfig(example)
    expect(problems).toMatchObject({
      problems: [expect.stringMatching(/_FILE/), expect.stringMatching(/_FILE/)],
    })
  })
})

describe('the proxies', () => {
  /** Functions that return a URI as the log of a proxy shows it. */
  const loggedUri: Record<string, (uri: string) => string> = {
    'deploy/nginx.conf': (uri) => {
      const [, pattern = ''] = /"~\*(\^.*\$)" "\$before\.\.\.\$after";/.exec(read('deploy/nginx.conf')) ?? []
      const { before, after } = new RegExp(pattern, 'i').exec(uri)?.groups ?? {}
      return before === undefined ? uri : `${before}...${after}`
    },
    'deploy/Caddyfile': (uri) => {
      const [, pattern = 'none', replacement = ''] =
        /uri regexp "(.*?)" "(.*?)"/.exec(read('deploy/Caddyfile')) ?? []
      const ignoresCase = pattern.startsWith('(?i)')
      return uri.replace(new RegExp(pattern.replace('(?i)', ''), ignoresCase ? 'gi' : 'g'), replacement)
    },
  }

  describe.each(Object.entries(loggedUri))('%s', (file, uriInLog) => {
    it.each(CALLS)('shortens the link in %s', (uri) => {
      // The first six digits stay, as in the till's own log.
      expect(uriInLog(uri)).not.toMatch(/[0-9a-f]{7}/i)
      expect(uriInLog(uri)).toContain('012345')
    })

    it('does not change other calls', () => {
      for (const uri of ['/help', '/assets/app-1a2b3c4d.js']) expect(uriInLog(uri)).toBe(uri)
    })

    it('logs no header, because the referrer may contain a link', () => {
      expect(read(file)).not.toMatch(/\$http_|\$request[^_]/)
      for (const field of ['request>headers delete', 'resp_headers delete'])
        expect(file.endsWith('.conf') || read(file).includes(field)).toBe(true)
    })

    it('accepts the bodies that the till accepts, and has balanced brackets', () => {
      expect(read(file)).toMatch(/(?:client_max_body_size 128k|max_size 128KB)/)
      const plain = read(file).replaceAll(/#.*$|"[^"]*"|\{\$\w+:[\w.:]+\}/gm, '')
      expect(plain.match(/\{/g)).toHaveLength(plain.match(/\}/g)?.length ?? 0)
    })
  })

  it('nginx passes on the caller’s address, the protocol and the host, and redirects http to https', () => {
    for (const line of [
      'proxy_set_header Host $host;',
      'proxy_set_header X-Forwarded-Proto $scheme;',
      'proxy_set_header X-Forwarded-For $remote_addr;',
      'ssl_protocols TLSv1.2 TLSv1.3;',
      'return 308 https://',
    ])
      expect(read('deploy/nginx.conf')).toContain(line)
    const statements = read('deploy/nginx.conf')
      .replaceAll(/#.*$/gm, '')
      .split('\n')
      .map((line) => line.trim())
    const unended = statements.filter((line) => line !== '' && !/[;{}]$/.test(line))
    expect(unended).toEqual([])
  })
})

describe('the service file', () => {
  const lines = read('deploy/tradetill.service').replaceAll('\\\n', ' ').split('\n')
  const settings = lines.filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('['))

  it('restarts the command of a release whenever it ends, and gives it time to stop', () => {
    expect(settings.filter((line) => !/^[A-Z]\w+=/.test(line))).toEqual([])
    expect(settings.find((line) => line.startsWith('ExecStart='))).toMatch(
      /\/opt\/tradetill\/bin\/tradetill serve$/,
    )
    expect(settings).toEqual(expect.arrayContaining(['Restart=always', 'TimeoutStopSec=30']))
    // After `systemctl restart`, the gateway is ready for commands, and no time limit cuts a migration short.
    expect(settings).toEqual(
      expect.arrayContaining(['Type=notify', 'NotifyAccess=all', 'TimeoutStartSec=infinity']),
    )
  })

  it('restricts the gateway, but lets it compile machine code', () => {
    expect(settings).toEqual(
      expect.arrayContaining([
        'DynamicUser=yes',
        'ProtectSystem=strict',
        'NoNewPrivileges=yes',
        'CapabilityBoundingSet=',
        'SystemCallFilter=@system-service',
        // A core file has the master key and the tokens of all bots.
        'LimitCORE=0',
      ]),
    )
    // Node compiles machine code while it runs.
    expect(lines.join('\n')).not.toContain('MemoryDenyWriteExecute')
  })
})

describe('the service file of the vault', () => {
  const settings = read('deploy/tradetill-vault.service').split('\n')

  it('runs the vault under a separate user, which cannot read the gateway’s secrets', () => {
    expect(settings).toEqual(
      expect.arrayContaining([
        'User=tradetill-vault',
        'StateDirectoryMode=0700',
        'InaccessiblePaths=-/etc/tradetill',
        'ProtectSystem=strict',
        'CapabilityBoundingSet=',
      ]),
    )
  })

  it('starts the vault of the release, under the same restrictions as the gateway', () => {
    const start = settings.find((line) => line.startsWith('ExecStart='))
    const [, script = ''] = /\/opt\/tradetill\/(\S+) run$/.exec(start ?? '') ?? []
    expect(existsSync(join(ROOT, script))).toBe(true)
    const limits = (text: string): string[] =>
      text
        .split('\n')
        .filter((line) => /^(?:Protect|Private|Restrict|NoNew|Lock|SystemCall|UMask|LimitCORE)/.test(line))
    expect(limits(settings.join('\n'))).toEqual(limits(read('deploy/tradetill.service')))
  })
})

describe('the script that makes the database', () => {
  /** Runs the script with a `runuser` that prints `roles`, and otherwise only records how it was called. */
  function setUp(roles: string) {
    const folder = mkdtempSync(join(tmpdir(), 'tradetill-database-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'bin'))
    const script = `#!/bin/sh\necho "$*" >> ${join(folder, 'calls')}\ncase "$*" in *pg_roles*) printf '%s' '${roles}' ;; esac\n`
    writeFileSync(join(folder, 'bin/runuser'), script, { mode: 0o755 })
    const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
    const settingsFolder = join(folder, 'settings')
    const { status, stderr } = spawnSync('sh', [join(ROOT, 'deploy/database.sh'), settingsFolder], {
      env,
      encoding: 'utf8',
    })
    return { status, stderr, settingsFolder, calls: readFileSync(join(folder, 'calls'), 'utf8') }
  }

  it('makes the database, and writes its address with a generated password', () => {
    const { status, settingsFolder, calls } = setUp('')
    expect(status).toBe(0)
    expect(calls).toContain('createdb --owner=tradetill_owner tradetill')
    expect(readFileSync(join(settingsFolder, 'database_url'), 'utf8')).toMatch(
      /^postgres:\/\/tradetill_app:[0-9a-f]{48}@127\.0\.0\.1:5432\/tradetill\n$/,
    )
  })

  it('changes nothing if a role already exists, and prints what to remove', () => {
    const { status, stderr, settingsFolder, calls } = setUp('1')
    expect(status).toBe(1)
    expect(stderr).toContain('dropuser --if-exists tradetill_owner')
    expect(existsSync(settingsFolder)).toBe(false)
    expect(calls).not.toMatch(/createdb/)
  })
})

describe('the script that sets up a vault', () => {
  /** Runs the script in a folder, with programs that only record how they were called. */
  function setUp(...args: string[]) {
    const root = mkdtempSync(join(tmpdir(), 'tradetill-vault-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    for (const folder of ['bin', 'etc/tradetill-vault', 'var/lib', 'usr/local/bin'])
      mkdirSync(join(root, folder), { recursive: true })
    for (const name of ['runuser', 'useradd', 'install', 'chgrp', 'id']) {
      const script = `#!/bin/sh\necho "${name} $*" >> ${join(root, 'calls')}\n${name === 'id' ? 'exit 1' : ''}\n`
      writeFileSync(join(root, 'bin', name), script, { mode: 0o755 })
    }
    const env = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, DESTDIR: root }
    const run = () => spawnSync('sh', [join(ROOT, 'deploy/vault.sh'), ...args], { env, encoding: 'utf8' })
    const first = run()
    return {
      output: first.stdout,
      secondStatus: run().status,
      calls: readFileSync(join(root, 'calls'), 'utf8'),
      address: parseEnv(readFileSync(join(root, 'etc/tradetill-vault/env'), 'utf8'))
        .TRADETILL_VAULT_DATABASE_URL,
    }
  }

  it('makes the role in the PostgreSQL of this machine with a generated password, and refuses a second run', () => {
    const { address, calls, secondStatus } = setUp()
    expect(address).toMatch(/^postgres:\/\/tradetill_vault:[0-9a-f]{48}@127\.0\.0\.1:5432\/tradetill$/)
    expect(calls).toMatch(/^runuser -u postgres -- psql[\s\S]*useradd --system/)
    expect(secondStatus).toBe(1)
  })

  it('with `elsewhere`, does not touch PostgreSQL, and prints what to edit', () => {
    const { address, calls, output } = setUp('elsewhere')
    expect(address).toBe('postgres://tradetill_vault:PASSWORD@db.example/tradetill?sslmode=verify-full')
    expect(output).toContain('Edit the address')
    expect(calls).not.toContain('postgres')
    expect(calls).toContain('useradd --system')
  })
})

describe('the console behind a proxy', () => {
  it.each(['deploy/Caddyfile', 'deploy/nginx.conf'])(
    'has its own host name, is closed to strangers, and is not buffered in %s',
    (file) => {
      const [, part = ''] = read(file).split("# The operators' console")
      expect(part).toContain('till-ops.example')
      expect(part).not.toContain('pay.example')
      expect(part).toMatch(/respond @stranger 403|deny all;/)
      expect(part).toMatch(/flush_interval -1|proxy_buffering off;/)
      expect(part).toContain('127.0.0.1:4304')
    },
  )
})

describe('the data folder of a gateway', () => {
  it('is writable and survives restarts, under systemd and in a container', () => {
    const service = read('deploy/tradetill.service')
    const [, state] = /^Environment=TRADETILL_DATA=(.*)$/m.exec(service) ?? []
    expect(service).toContain(`\nStateDirectory=${state?.replace('/var/lib/', '')}\n`)
    const [, folder = 'none'] = /TRADETILL_DATA=(\S+)/.exec(read('deploy/Dockerfile')) ?? []
    expect(read('deploy/Dockerfile')).toContain(`install -d -o node -g node -m 700 ${folder}\n`)
    expect(read('deploy/compose.yml')).toContain(`- state:${folder}\n`)
  })
})

describe('the containers', () => {
  it('run as an unprivileged user, check their health, and use the command of a release', () => {
    const text = read('deploy/Dockerfile')
    expect(text.match(/^USER (.*)$/m)?.[1]).toBe('node')
    for (const word of [
      'HEALTHCHECK',
      'ADD release/tradetill-[0-9]*.tgz',
      'ENTRYPOINT ["/opt/tradetill/bin/tradetill"]',
    ])
      expect(text).toContain(word)
  })

  it('include a demo that has no secret files, and runs as an unprivileged user on the loopback only', () => {
    const text = read('deploy/Dockerfile.demo')
    expect(text.match(/^USER (.*)$/m)?.[1]).toBe('node')
    expect(text).toContain('docker run --rm --init --network host tradetill-demo')
    expect(text).not.toMatch(/0\.0\.0\.0|EXPOSE|PUBLIC_SANDBOX/)
    const copied = [...text.matchAll(/^COPY --chown=node:node (.*) \S+$/gm)].flatMap(([, from = '']) =>
      from.split(' '),
    )
    expect(copied).toEqual(['package.json', 'package-lock.json', 'stubs', '.'])
    expect(copied.filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
    const ignored = read('deploy/Dockerfile.demo.dockerignore').split('\n')
    expect(ignored).toEqual(expect.arrayContaining(['.git', '.data', '.env', 'deploy/secrets']))
  })

  it('define every secret and mounted file that they name, and the gateway’s file system is read-only', () => {
    const text = read('deploy/compose.yml')
    expect(text).not.toContain('\t')
    const secrets = [...text.matchAll(/\/run\/secrets\/([\w.]+)/g)].map(([, name]) => name)
    for (const name of secrets) expect(text).toContain(`  ${name}:\n    file: ./secrets/${name}\n`)
    const mounted = [...text.matchAll(/^ {6}- \.\/([\w.]+):/gm)].map(([, name]) => `deploy/${name}`)
    // Docker makes the folder of the backups.
    expect(mounted.filter((name) => !files.includes(name))).toEqual(['deploy/backups'])
    expect(text).toContain('read_only: true')
  })

  // To a container without IPv6, an IPv6 call seems to come from one of Docker's own private addresses.
  it('publish ports on IPv4 only, so the proxy sees the address of every caller', () => {
    const [, ports = ''] = /^ {4}ports: \[(.*)\]$/m.exec(read('deploy/compose.yml')) ?? []
    expect(ports.split(', ')).toEqual(['"0.0.0.0:80:80"', '"0.0.0.0:443:443"'])
  })

  it('limit the log of every container', () => {
    const [, services = ''] = /^services:\n([\s\S]*?)^networks:/m.exec(read('deploy/compose.yml')) ?? []
    const names = services.match(/^ {2}\w+:$/gm) ?? []
    expect(names.length).toBeGreaterThan(3)
    expect(services.match(/^ {4}logging: \*logging$/gm)).toHaveLength(names.length)
  })
})

it.each(['roles.sh', 'backup.sh', 'database.sh', 'nightly.sh', 'vault.sh', 'install.sh', 'node.sh'])(
  'bash can parse deploy/%s',
  (name) => {
    expect(() => execFileSync('bash', ['-n', join(ROOT, 'deploy', name)])).not.toThrow()
  },
)
