import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const OUT = join(import.meta.dirname, 'dist')

/** Writes .br and .gz beside each text asset, so the server never compresses. */
function precompressed(): Plugin {
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

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), precompressed(), dialogsNamed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no inline script and no data: picture.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
