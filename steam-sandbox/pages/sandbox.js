for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy)
      button.textContent = 'Copied'
    } catch {
      // If the browser refuses the clipboard, the selected text can still be copied by hand.
      const field = button.parentElement.querySelector('input')
      if (field === null) return
      field.focus()
      field.select()
      button.textContent = 'Now press Ctrl+C'
    }
  })
}

// A scene of the tour plays in another process, so reload until it is over.
if (document.querySelector('[data-playing]') !== null) setTimeout(() => location.reload(), 700)
