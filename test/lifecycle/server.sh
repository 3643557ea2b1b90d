# A stdio MCP server that starts in a millisecond: the handshake and one tool, by text alone. Leaves with its input.
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"text","text":"hello"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
