import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { loadMessages, messagesIn } from './i18n/messages.ts'
import { shellOf } from './shell.tsx'

const OUT = join(import.meta.dirname, 'dist')

/** Writes .br and .gz beside each text asset, so the server never compresses. */
export function precompressed(): Plugin {
  let folder = ''
  return {
    name: 'precompressed',
    apply: 'build',
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir, 'assets')
    },
    closeBundle() {
      for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))) {
        const content = readFileSync(join(folder, name))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 }
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params: quality }))
      }
    },
  }
}

const DIALOGS = '/modals/modals.tsx'

/** Names the files of the dialogs in the page, so it can ask for them under other addresses once a load has failed. */
function dialogsNamed(): Plugin {
  return {
    name: 'dialogs-named',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const [chunk] = Object.values(bundle ?? {}).filter(
          (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith(DIALOGS) === true,
        )
        if (chunk?.type !== 'chunk') throw new Error(`the build has no chunk of ${DIALOGS}`)
        const files = [chunk.fileName, ...(chunk.viteMetadata?.importedCss ?? [])]
        const addresses = files.map((file) => `/${file}`).join(' ')
        return html.replace('data-mode=', () => `data-dialogs="${addresses}" data-mode=`)
      },
    },
  }
}

/**
 * Puts the styles into the page, and the shells of a deposit in every language, of which the gateway leaves one. The
 * first answer alone then shows whose payment it is.
 */
function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      async handler(html, { bundle = {} }) {
        await loadMessages('ru')
        const link = /<link rel="stylesheet" crossorigin href="\/(assets\/[\w.-]+)">/.exec(html)
        const styles = bundle[link?.[1] ?? '']
        if (link === null || styles?.type !== 'asset') throw new Error('the page has no styles')
        delete bundle[styles.fileName]
        const russian = Object.values(bundle).find(({ fileName }) => /\/page\.ru-[^/]+\.js$/.test(fileName))
        if (russian === undefined) throw new Error('the build has no Russian texts')
        const preload = `<link rel="modulepreload" href="/${russian.fileName}">`
        const shells = [
          `<!--shell-->${shellOf({ texts: null, language: 'en' })}`,
          `<!--shell en-->${shellOf({ texts: messagesIn('en'), language: 'en' })}`,
          `<!--shell ru-->${preload}${shellOf({ texts: messagesIn('ru'), language: 'ru' })}`,
        ]
        return html
          .replace(link[0], () => `<style>${String(styles.source).trim()}</style>`)
          .replace('<!--shells-->', () => `${shells.join('')}<!--/shells-->`)
      },
    },
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), precompressed(), dialogsNamed(), firstPaint()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no inline script and no data: picture.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
