// SPDX-License-Identifier: GPL-3.0-or-later
// An SSH server for one login by typing, where sshd would need PAM: asking_server HOSTKEY PORT
// interactive|password. It asks for a code and a word, then for an animal; the password is "open".
#include <cstdio>
#include <cstring>
#include <string>

#include <libssh/libssh.h>
#include <libssh/server.h>

namespace {

std::string answer(ssh_session session, unsigned i) {
    const char* text = ssh_userauth_kbdint_getanswer(session, i);
    return text ? text : "";
}

/// One step of the interactive login; true once it is over and right.
bool askOrJudge(ssh_session session, ssh_message message, int& round) {
    const char* first[] = {"Code: ", "Word: "};
    const char* second[] = {"Animal? "};
    char firstShown[] = {1, 0}, secondShown[] = {1};
    if (!ssh_message_auth_kbdint_is_response(message)) {
        round = 1;
        ssh_message_auth_interactive_request(
            message, "Gate", "Two questions first.", 2, first, firstShown);
        return false;
    }
    const int count = ssh_userauth_kbdint_getnanswers(session);
    if (round == 1 && count == 2 && answer(session, 0) == "1234" &&
        answer(session, 1) == "s\xc3\xa9same") {
        round = 2;
        ssh_message_auth_interactive_request(message, "", "One more.", 1, second, secondShown);
        return false;
    }
    if (round == 2 && count == 1 && answer(session, 0) == "owl")
        return true;
    ssh_message_reply_default(message);
    return false;
}

void serve(ssh_session session, bool interactive) {
    int round = 0;
    const int methods = interactive ? SSH_AUTH_METHOD_INTERACTIVE : SSH_AUTH_METHOD_PASSWORD;
    while (ssh_message message = ssh_message_get(session)) {
        const int kind = ssh_message_type(message), method = ssh_message_subtype(message);
        bool in = false;
        if (kind != SSH_REQUEST_AUTH) {
            ssh_message_reply_default(message);
        } else if (method != methods) {
            ssh_message_auth_set_methods(message, methods);
            ssh_message_reply_default(message);
        } else if (interactive) {
            in = askOrJudge(session, message, round);
        } else {
            in = std::strcmp(ssh_message_auth_password(message), "open") == 0;
            if (!in)
                ssh_message_reply_default(message);
        }
        if (in)
            ssh_message_auth_reply_success(message, 0);
        ssh_message_free(message);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    ssh_init();
    ssh_bind server = ssh_bind_new();
    ssh_bind_options_set(server, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
    ssh_bind_options_set(server, SSH_BIND_OPTIONS_BINDPORT_STR, argv[2]);
    ssh_bind_options_set(server, SSH_BIND_OPTIONS_HOSTKEY, argv[1]);
    if (ssh_bind_listen(server) != SSH_OK)
        return std::fprintf(stderr, "%s\n", ssh_get_error(server)), 1;
    std::puts("ready");
    std::fflush(stdout);
    ssh_session session = ssh_new();
    if (ssh_bind_accept(server, session) == SSH_OK && ssh_handle_key_exchange(session) == SSH_OK)
        serve(session, std::strcmp(argv[3], "interactive") == 0);
    ssh_disconnect(session);
    ssh_free(session);
    ssh_bind_free(server);
    return 0;
}
